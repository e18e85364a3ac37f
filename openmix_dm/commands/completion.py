"""Print what makes a shell complete commands and names of configs.

The scripts ask `config --list` for the names, which imports nothing heavy; folders come first, then what is in them.
"""

from collections.abc import Sequence

from openmix_dm.commands.console import COMMANDS
from openmix_dm.commands.parser import CommandParser
from openmix_dm.invocation import CONSOLE, command

# Commands whose words can be configs; all words can be files.
TAKE_CONFIGS = ('train', 'test', 'config', 'mix', 'analyze', 'export', 'dist-train', 'dist-test', 'slurm-train')

BASH = """# openmix-dm completion bash
_openmix_dm() {
    local word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "@commands@" -- "$word"))
        return
    fi
    case "${COMP_WORDS[1]}" in
    @takers@)
        local names
        names=$("${COMP_WORDS[0]}" config --list "$word*" 2>/dev/null) || return
        if [[ $word != */* ]]; then # 800 names are too many to be shown: folders first
            names=$(sed 's,/.*,/,' <<<"$names" | sort -u)
            compopt -o nospace
        fi
        COMPREPLY=($(compgen -W "$names" -- "$word"))
        ;;
    esac
}
complete -o default -F _openmix_dm openmix-dm
"""

ZSH = """#compdef openmix-dm
# openmix-dm completion zsh
_openmix_dm() {
    if (( CURRENT == 2 )); then
        compadd -- @commands@
        return
    fi
    case "$words[2]" in
    @takers@)
        local -a names
        names=(${(f)"$($words[1] config --list "$PREFIX*" 2>/dev/null)"})
        _multi_parts / names
        ;;
    esac
    _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _openmix_dm openmix-dm
"""

FISH = """# openmix-dm completion fish
complete -c openmix-dm -n __fish_use_subcommand -f -a '@commands@'
complete -c openmix-dm -n '__fish_seen_subcommand_from @words@' -a '(openmix-dm config --list 2>/dev/null)'
"""

SCRIPTS = {'bash': BASH, 'zsh': ZSH, 'fish': FISH}
WHERE = {
    'bash': f'in ~/.bashrc: eval "$({CONSOLE} completion bash)"',
    'zsh': f'in ~/.zshrc: eval "$({CONSOLE} completion zsh)"',
    'fish': f'in config.fish: {CONSOLE} completion fish | source',
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the script of a shell; return the exit code."""
    parser = CommandParser(
        prog=command('completion'),
        description='Print what completes commands and configs in a shell; '
        + '; '.join(f'{shell}: {how}' for shell, how in WHERE.items()),
    )
    parser.add_argument('shell', choices=sorted(SCRIPTS))
    args = parser.parse_args(arguments)
    print(script_of(args.shell), end='')
    return 0


def script_of(shell: str) -> str:
    """Return the script of a shell, with all commands in it."""
    filled = {'commands': ' '.join(COMMANDS), 'takers': ' | '.join(TAKE_CONFIGS), 'words': ' '.join(TAKE_CONFIGS)}
    text = SCRIPTS[shell]
    for name, words in filled.items():
        text = text.replace(f'@{name}@', words)
    return text
