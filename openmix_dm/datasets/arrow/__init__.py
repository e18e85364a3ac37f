"""Images in Arrow tables: the folders and the Hub of Hugging Face's `datasets`."""
