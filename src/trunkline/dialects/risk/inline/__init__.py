"""Code that a command line brings with it, in quotes or on its input.

    code.py            what is known to do harm, by language          plain_code.py  what is known to do none
    harmless_names.py  the names that it may use, as data             magics.py      what notebooks add to a language
    sed.py             sed's own language, which writes files and runs commands
"""
