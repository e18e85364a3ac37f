# The mixers that the paper does not have, on the embedded digits.
#   python tools/table.py run digits_newer && python tools/table.py collect digits_newer
title = 'Digits, 40 epochs, ResNet-8 and a small ViT: newer mixers with MCE and DM(CE), top-1 in %'
columns = ['MCE', 'DM(CE)']
rows = {
    'Vanilla': ['digits/r8_vanilla.py', None],
    'AlignMixup': ['digits/r8_alignmixup.py', 'digits/r8_alignmixup_dm.py'],
    'SnapMix': ['digits/r8_snapmix.py', 'digits/r8_snapmix_dm.py'],
    'GuidedMixup': ['digits/r8_guidedmixup.py', 'digits/r8_guidedmixup_dm.py'],
    'RecursiveMix': ['digits/r8_recursivemix.py', None],  # labels of many classes
    'AdAutoMix, two images': ['digits/r8_adautomix-two.py', 'digits/r8_adautomix_dm.py'],
    'AdAutoMix, three images': ['digits/r8_adautomix.py', None],  # labels of three classes
    'Vanilla, ViT': ['digits/vit_vanilla.py', None],
    'SMMix, ViT': ['digits/vit_smmix.py', 'digits/vit_smmix_dm.py'],
    'MixPro, ViT': ['digits/vit_mixpro.py', 'digits/vit_mixpro_dm.py'],
}
baseline = 'MCE'
trials = 3
