"""Names that code may use and is still known to compute, look and print only, by language: data for ``plain_code.py``.

Rule: a name stands here if nothing that can be done with it runs a program, loads code, or changes a file. What is not here may.
"""

from __future__ import annotations

from typing import Final

_ANYWHERE: Final = (
    "true false null nil none not and or if else elif for in while do end then print println printf puts echo version "
    "sum min max abs round floor ceil sqrt sin cos tan log exp pi length size sort sorted reverse join split map filter reduce "
    "return break continue")

PYTHON: Final = frozenset("""
    print len sorted sum min max abs round range enumerate zip map filter list dict set frozenset tuple str int float bool bytes
    repr type isinstance issubclass hasattr any all dir id hash hex bin oct ord format reversed next iter pow divmod
    join split rsplit strip lstrip rstrip partition rpartition splitlines startswith endswith replace lower upper title
    capitalize casefold swapcase zfill ljust rjust center find rfind index rindex count encode isdigit isalpha isalnum isspace
    get items keys values append extend insert sort reverse union intersection difference issubset issuperset most_common
    read readline readlines read_text read_bytes load loads dumps pprint pformat exists isfile isdir is_file is_dir basename
    dirname abspath realpath relpath normpath splitext expanduser getcwd cwd listdir iterdir glob rglob stat getsize relative_to
    with_suffix version python_version platform system machine node release processor uname architecture now today utcnow
    isoformat strftime strptime fromisoformat timestamp time perf_counter monotonic gmtime localtime date datetime timedelta
    sqrt floor ceil log log2 log10 exp sin cos tan atan2 gcd factorial comb perm hypot isclose degrees radians prod mean median
    mode stdev variance match search findall finditer sub fullmatch escape group groups groupdict span start
    Counter defaultdict OrderedDict deque namedtuple chain product permutations combinations islice accumulate groupby
    Path PurePath Decimal Fraction Enum md5 sha1 sha256 sha512 hexdigest digest uuid4 uuid1 indent dedent fill wrap shorten
    getsizeof getdefaultencoding getfilesystemencoding get_paths get_path get_config_var is_relative_to as_posix resolve
    is_available device_count get_device_name reader DictReader isatty fileno sleep ctime process_time parse literal_eval walk
    b64encode b64decode quote unquote quote_plus urlparse urlsplit urlencode parse_qs token_hex token_urlsafe token_bytes
    getsource signature getdoc arange linspace zeros ones read_csv head tail describe safe_load
""".split())
"""What Python code may call."""
PYTHON_MODULES: Final = frozenset(
    "sys json math re ast platform datetime collections itertools functools string textwrap statistics decimal fractions random "
    "time pprint typing locale calendar uuid hashlib struct unicodedata sysconfig difflib operator csv tomllib enum "
    "dataclasses base64 secrets urllib.parse".split())
"""Modules with nothing in them that does more."""
PYTHON_DUNDERS: Final = frozenset("__version__ __name__ __file__ __doc__ __all__ __path__ __author__ __main__ __title__".split())

NODE: Final = frozenset("""
    log error warn info table dir stringify parse keys values entries assign fromEntries from isArray of Number String Boolean
    BigInt parseInt parseFloat isNaN isFinite isInteger Date now Map Set Array Object Error RegExp floor ceil round abs max min
    pow sqrt random trunc sign hypot log2 log10 exp toString toFixed toISOString toLocaleString toJSON getTime getFullYear
    cwd exit memoryUsage uptime hrtime require resolve join basename dirname extname relative isAbsolute normalize sep
    map filter reduce forEach find findIndex findLast some every flat flatMap slice splice concat includes indexOf lastIndexOf
    push pop shift unshift sort reverse fill at split replace replaceAll match matchAll test trim trimStart trimEnd padStart
    padEnd startsWith endsWith toUpperCase toLowerCase charAt charCodeAt codePointAt localeCompare normalize repeat substring
    substr has get set add size inspect format cpus totalmem freemem hostname type release arch platform homedir tmpdir
    readFileSync existsSync readdirSync statSync if for while switch catch return typeof await of in write then
    createHash update digest randomUUID randomBytes
    encodeURIComponent decodeURIComponent setTimeout setInterval clearTimeout clearInterval
""".split())
"""What JavaScript may call."""
NODE_GRAVE: Final = frozenset(
    "child_process cluster dgram dns http http2 https inspector module net process repl tls trace_events v8 vm wasi "
    "worker_threads".split())
"""Modules of its own that do more. Others do nothing that code can use without calling something."""

OTHERS: Final[dict[str, frozenset[str]]] = {
    "ruby": frozenset(f"""
        {_ANYWHERE} p pp require puts print unless elsif case when until begin self each each_with_index each_line
        each_with_object select reject find inject sum count first last take drop uniq flatten compact zip
        to_s to_i to_f to_a to_h to_sym to_json
        inspect upcase downcase capitalize strip chomp gsub sub scan match tr chars lines bytes include start_with end_with
        keys values key any all none empty nil zero even odd times upto downto step sort_by min_by max_by group_by tally
        format sprintf rjust ljust center round floor ceil abs JSON parse generate pretty_generate RUBY_VERSION
        RUBY_PLATFORM RUBY_ENGINE File read exist file directory basename dirname extname readlines Dir glob pwd Time now
        today Date strftime year month day Math PI Integer Float String Array Hash Set Gem Version STDIN ARGF
        gets ARGV json set date
        time merge fetch dig freeze frozen is_a respond_to name map collect with_index slice index push rand
    """.split()),
    "perl": frozenset(f"""
        {_ANYWHERE.replace(" do ", " ")}
        say unless elsif foreach until next last redo my our local use no strict warnings feature utf8 eq ne lt gt le
        ge cmp x xor chomp chop lc uc lcfirst ucfirst substr index rindex grep keys values each scalar defined exists
        delete push pop shift unshift splice sprintf int hex oct ord wantarray BEGIN END List Util sum0 uniq first
        POSIX Data Dumper Time HiRes localtime gmtime time STDIN STDOUT STDERR eof qw q qq m undef
        JSON PP decode_json encode_json pos quotemeta ref
    """.split()),
    "php": frozenset(f"""
        {_ANYWHERE} php phpversion PHP_VERSION PHP_OS PHP_EOL PHP_INT_MAX PHP_OS_FAMILY var_dump print_r var_export json_encode
        json_decode JSON_PRETTY_PRINT file_get_contents count strlen implode explode array_keys array_values array_sum
        array_merge array_unique array_slice array_column in_array range str_repeat str_replace strtoupper
        strtolower trim ucfirst
        substr strpos date time ini_get extension_loaded function_exists class_exists phpinfo sprintf number_format foreach as
        isset empty is_array intdiv get_loaded_extensions php_sapi_name md5 sha1 hash microtime file_exists
    """.split()),
    "lua": frozenset(f"""
        {_ANYWHERE} local function string format rep sub upper lower len byte gsub gmatch find match math table concat insert
        unpack pairs ipairs tostring tonumber type os time date clock _VERSION huge tointeger jit arch elseif
        repeat until select
    """.split()),
    "r": frozenset(f"{_ANYWHERE} cat paste paste0 R major minor string sessionInfo packageVersion mean median sd var c seq rep "
                   "nrow ncol head tail summary str names TRUE FALSE NULL library Sys time Date date R.version.string".split()),
    "julia": frozenset(f"{_ANYWHERE} VERSION versioninfo show display mean using Statistics length string push n".split()),
    "elixir": frozenset(f"{_ANYWHERE} IO inspect System otp_release Enum to_list into String upcase downcase "
    "fn List Map Integer "
                        "Float".split()),
    "pwsh": frozenset("write-output write-host get-childitem get-content get-date get-location get-command "
    "get-process get-item "
                      "select-string select-object where-object measure-object sort-object format-table format-list "
                      "psversiontable psversion test-path true false echo ls cat pwd dir name length "
                      "convertto-json convertfrom-json out-string "
                      "first last property".split()),
    "osascript": frozenset("display notification with title subtitle return version of the get name".split()),
    "vim": frozenset("q qa wq x wqa set syntax on off nonumber number version redir end echo normal gg G".split()),
    "emacs": frozenset("message princ emacs-version version kill-emacs format insert t nil".split()),
}
"""Every name that code of another language may have in it, beside those that it gives a value itself."""
ELSEWHERE: Final = frozenset(f"{_ANYWHERE} display write writeln newline show putStrLn format io string def let val var".split())
"""The same for languages that have no row."""
