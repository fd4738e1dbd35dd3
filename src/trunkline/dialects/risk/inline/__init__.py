"""Code that a command line brings with it, in quotes or on its input.

    code.py            what is known to do harm, by language          plain_code.py  what is known to do none
    plain_python.py    the same of Python, by its syntax tree         plain_node.py  the same of JavaScript
    bare_text.py       code without its strings and patterns
    harmless_names.py  the names that it may use, as data             magics.py      what notebooks add to a language
    sed.py             sed's own language, which writes files and runs commands
"""
