"""Programs that run others by an option, an argument or their input: the rows, which are data. ``words.py`` reads them.

Two kinds of options are kept apart, because two kinds of rules look at them:

    options, loads, code, flags    they run what nobody sees in the line, so a rule that denies a command may be about it
    changes, folders               they say which of the project's own code is run (a configuration, a plugin, another folder):
                                   to a rule that denies that is like a script of the project, but a pattern that allows must
                                   name them

Rule: a row has what the program's manual says of it. A program without a row runs nothing that is known of here.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Language = Literal["", "sed", "ssh", "code", "editor", "shell"]
"""How code of a program is looked through: by telling words, as sed's, as settings of ssh, as that of an interpreter. What is a
shell's own is not looked through: it runs something."""


class Runner(NamedTuple):
    """How a program runs others."""

    options: frozenset[str] = frozenset()
    """Their value is a program or a command line."""
    loads: frozenset[str] = frozenset()
    """Their value is a file, or a setting, that says what is run."""
    code: frozenset[str] = frozenset()
    """Their value is code of the program's own, which may run commands."""
    flags: frozenset[str] = frozenset()
    """Without a value: they make it run what its words do not say."""
    changes: frozenset[str] = frozenset()
    """Their value says which code of the project is run, and how."""
    folders: frozenset[str] = frozenset()
    """The same, by a folder or a file of a project: as good as any other of the project where it is inside."""
    operand: int = 0
    """This operand, from 1, is such code, unless an option gave it; 0: none is."""
    stdin: bool = False
    """Its input is such code."""
    rest: int = 0
    """From this operand on, from 1, its words are a command; 0: none are."""
    language: Language = ""
    dashes: bool = False
    """Its options are words with one dash or two (``-overlay x``), and never bundled."""
    sets: bool = False
    """An operand ``NAME=value`` sets a variable of what it runs."""
    always: bool = False
    """Whatever its words are, what it runs is in a file."""
    formats: frozenset[str] = frozenset()
    """Among ``changes``: a plain word as their value is the name of something that is installed; a path is a file."""
    takes: frozenset[str] = frozenset()
    """Further options whose value is a word of its own."""
    targets: bool = False
    """Its operands are files or folders whose code it runs: as good as any other of the project where they are inside."""
    known: frozenset[str] = frozenset()
    """Every option that changes what is run."""
    taking: frozenset[str] = frozenset()
    """Every option whose value is a word of its own."""


def _row(options: str = "", loads: str = "", code: str = "", *, flags: str = "", changes: str = "", folders: str = "",
         operand: int = 0, stdin: bool = False, rest: int = 0, language: Language = "", dashes: bool = False, sets: bool = False,
         always: bool = False, formats: str = "", takes: str = "", targets: bool = False) -> Runner:
    known = _set(f"{options} {loads} {code} {changes} {folders}")
    return Runner(
        _set(options), _set(loads), _set(code), _set(flags), _set(changes), _set(folders), operand, stdin, rest, language, dashes,
        sets, always, _set(formats), _set(takes), targets, known, known | _set(takes))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _same(names: str, row: Runner) -> dict[str, Runner]:
    return dict.fromkeys(names.split(), row)


_DATABASE: Final = _row(loads="-f --file -init", code="-c --command -e --execute -cmd", operand=2, stdin=True,
                        takes="-p -h -U -d -n -t")
_WRAPPER: Final = _row(rest=1)

_INTERPRETERS: Final[dict[str, Runner]] = {
    **_same("python python2 python3 pypy pypy3", _row(code="-c", stdin=True, language="code")),
    **_same("perl", _row(code="-e -E", changes="-I -M -m", stdin=True, language="code")),
    **_same("ruby jruby", _row(code="-e", changes="-r", folders="-I", stdin=True, language="code")),
    **_same("node nodejs", _row(
        code="-e --eval -p --print", changes="-r --require --import --loader --experimental-loader --env-file -C --conditions "
        "--openssl-config --test-reporter --test-global-setup --experimental-config-file --snapshot-blob", stdin=True,
        language="code", formats="--test-reporter")),
    "bun": _row("--script-shell", "--userconfig --globalconfig --node-options", "-e --eval -p --print",
                changes="-r --preload --require -c --config", folders="--cwd", language="code"),
    "deno": _row(code="eval", changes="-c --config --import-map", folders="--cwd", language="code"),
    "php": _row(code="-r -B -R -E", changes="-d -c -z", stdin=True, language="code"),
    **_same("lua luajit", _row(code="-e", changes="-l", stdin=True, language="code")),
    **_same("expect", _row(loads="-f", code="-c", stdin=True)),
    **_same("tclsh wish", _row(stdin=True, language="code")),
    **_same("octave octave-cli", _row(code="--eval", stdin=True, language="code")),
    "gnuplot": _row(code="-e", stdin=True, language="code"),
    **_same("r rscript R Rscript", _row(code="-e", stdin=True, language="code")),
    "julia": _row(loads="-L --load", code="-e -E --eval --print", stdin=True, language="code"),
    **_same("guile racket chicken csi scheme mit-scheme", _row(loads="-l --load -f", code="-c -e --eval", stdin=True,
                                                               language="code")),
    **_same("sbcl clisp ecl ccl", _row(loads="--load --script -l -i", code="--eval -x", stdin=True, language="code")),
    **_same("irb pry ipython bpython", _row(code="-c", stdin=True, language="code")),
    **_same("ghci runghc", _row(code="-e", stdin=True)),
    "ghc": _row("-pgmF -pgmP -pgmL -pgmc -pgmcxx -pgml -pgmlm -pgma -pgmlo -pgmlc -pgmi", code="-e", stdin=True, dashes=True,
                changes="-fplugin -package-db"),
    **_same("stack cabal", _row(code="-e", stdin=True, folders="--stack-yaml --project-file --project-dir")),
    **_same("erl", _row(code="-eval -run -s", dashes=True, stdin=True, language="code")),
    **_same("elixir iex", _row(code="-e --eval --rpc-eval", changes="-r --require", stdin=True, language="code")),
    **_same("osascript", _row(code="-e", stdin=True, language="code")),
    **_same("swipl prolog gprolog", _row(loads="-s -f -l", code="-g -t", stdin=True)),
    **_same("scala groovy jrunscript clj clojure kotlin kotlinc", _row(loads="-i -f", code="-e -m", stdin=True, language="code")),
    **_same("jshell", _row(stdin=True, always=True)),
    **_same("pwsh powershell", _row(loads="-File -f", code="-c -Command -e -EncodedCommand", dashes=True, stdin=True, operand=1)),
    "m4": _row(code="-D --define", stdin=True),
}
"""Code of a language, in an option or on the input."""

_EDITORS: Final[dict[str, Runner]] = {
    **_same("ed ex vi vim nvim view emacs red gvim vimdiff rvim kak", _row(
        loads="-S -s -u --rcfile -l --load --script", code="-c --cmd --eval --execute -f --funcall", stdin=True,
        language="editor")),
    "emacsclient": _row("-a --alternate-editor", code="-e --eval"),
    "nano": _row("-s --speller", loads="-f --rcfile"),
    **_same("awk gawk mawk nawk original-awk", _row(
        loads="-f --file -i --include -l --load -E --exec", code="-e --source", operand=1,
        takes="-F -v --assign --field-separator")),
    **_same("sed gsed ssed", _row(loads="-f --file", code="-e --expression", operand=1, language="sed")),
    **_same("gdb lldb", _row(loads="-x --command -s --source", code="-ex -iex --eval-command -o --one-line -O", stdin=True)),
    **_same("sqlite3 sqlite psql mysql mariadb duckdb usql", _DATABASE),
    **_same("mongo mongosh", _row(loads="-f --file", code="--eval", stdin=True)),
    **_same("redis-cli valkey-cli keydb-cli", _row(changes="--eval", stdin=True)),
    **_same("cqlsh trino presto cypher-shell", _row(changes="-f --file")),
    **_same("clickhouse-client clickhouse-local clickhouse", _row(changes="--queries-file")),
    **_same("sqlcmd", _row(loads="-i")), **_same("hive beeline impala-shell snowsql vsql", _row(loads="-f -i --query_file")),
    "dc": _row(loads="-f --file", code="-e --expression", stdin=True),
    **_same("less more most", _row(loads="-k --lesskey-file --lesskey-src", language="editor")),
    **_same("groff troff", _row(flags="-U")),
    **_same("pdflatex latex tex xelatex lualatex pdftex luatex latexmk", _row(
        "-output-format", loads="-r", code="-e", flags="-shell-escape --shell-escape -enable-write18 --enable-write18",
        dashes=True)),
    **_same("gs ghostscript", _row(flags="-dNOSAFER", code="-c", dashes=True)),
    "pandoc": _row("-F --filter --pdf-engine --citeproc-command", loads="-L --lua-filter -d --defaults --data-dir -t --to"),
    **_same("ctags exctags", _row(loads="--options --_prelude")),
}
"""What has commands of its own, some of which run programs."""

_TALKERS: Final[dict[str, Runner]] = {
    **_same("ftp telnet mail mailx", _row(loads="-f -A", stdin=True)),
    **_same("at batch", _row(loads="-f", stdin=True, language="shell")),
    "lftp": _row(loads="-f", code="-c -e", stdin=True),
    "smbclient": _row(loads="-s", code="-c --command", stdin=True),
    **_same("mutt neomutt", _row(loads="-F", code="-e")),
    "crontab": _row(stdin=True, always=True, language="shell"),
    "socat": _row(operand=1, stdin=True),
    **_same("ssh autossh slogin ssh-copy-id", _row("-S", loads="-F -I", code="-o", language="ssh")),
    **_same("scp", _row("-S -D", loads="-F", code="-o", language="ssh")),
    **_same("sftp", _row("-S -D -s", loads="-F -b", code="-o", stdin=True, language="ssh")),
    **_same("ssh-keygen ssh-add", _row(loads="-D -s")),
    "rsync": _row("-e --rsh --rsync-path", loads="--config"),
    **_same("nc ncat netcat", _row("-e -c --exec --sh-exec --lua-exec")),
    "openvpn": _row("--up --down --route-up --ipchange --tls-verify --client-connect --plugin", loads="--config"),
    **_same("wget wget2", _row("--use-askpass", loads="-e --execute --config")),
    "curl": _row(loads="-K --config --engine"),
    "tcpdump": _row("-z"),
    **_same("tshark wireshark", _row(loads="-X -C")),
    "nmap": _row(loads="--script --datadir --servicedb"),
    "svn": _row("--editor-cmd --diff-cmd --diff3-cmd", loads="--config-option --config-dir"),
    "hg": _row(loads="--config --config-option --config-dir"),
    **_same("bzr fossil darcs jj", _row(loads="--config --config-file --config-toml")),
}
"""What talks to other machines."""

_ARCHIVERS: Final[dict[str, Runner]] = {
    **_same("tar gtar bsdtar star", _row(
        "--to-command --use-compress-program --rsh-command --info-script --new-volume-script --checkpoint-action -I -F "
        "--rmt-command")),
    "sort": _row("--compress-program"),
    "cpio": _row("--rsh-command"),
    "zip": _row("--unzip-command -TT"),
    "split": _row("--filter"),
    **_same("man apropos", _row("-P --pager -H --html --preprocessor", loads="-C --config-file")),
    **_same("rg ripgrep bat batcat delta ag ack", _row("--pager --pre --preview --hostname-bin", changes="--config")),
    "fzf": _row("--preview --pager", code="--bind"),
    **_same("ugrep ug", _row("--filter --view --pager", loads="--config")),
    "mlr": _row("--prepipe --prepipex", loads="--load --mload", operand=2),
    "exiftool": _row(loads="-config -@ -stay_open", code="-if -p -api -execute", dashes=True),
    "cloc": _row("--extract-with", loads="--config"),
    **_same("pygmentize highlight nm objdump size", _row(loads="-x --plugin --plug-in", dashes=True)),
}

_BUILDERS: Final[dict[str, Runner]] = {
    **_same("make gmake bmake", _row(loads="-f --file --makefile -I --include-dir --eval -E", folders="-C --directory",
                                     sets=True)),
    "just": _row("--shell --chooser -c --command --cygpath", loads="-f --justfile", changes="--shell-arg --dotenv-path --set",
                 folders="-d --working-directory", sets=True, targets=True),
    "rake": _row(loads="-f --rakefile", code="-e -E -p --execute", changes="-r --require -I --libdir -R --rakelibdir"),
    "ninja": _row(loads="-f", folders="-C"),
    **_same("task mage doit invoke inv fab earthly", _row(changes="-t --taskfile -f --file -c --collection -w",
                                                          folders="-d --dir -r --search-root")),
    **_same("npm", _row("--script-shell --git --editor --shell --viewer", loads="--userconfig --globalconfig --node-options",
                        changes="--call -c --init-module --browser", folders="--prefix -C -w --workspace")),
    **_same("pnpm", _row("--script-shell --shell",
                         loads="--userconfig --globalconfig --node-options --global-pnpmfile --pnpmfile",
                         changes="--config --config.script-shell --config.shell-emulator --config.node-options "
                         "--config.userconfig --config.globalconfig --config.registry --config.pnpmfile --config.global-pnpmfile",
                         folders="-C --dir --prefix")),
    **_same("yarn", _row("--script-shell", loads="--userconfig --globalconfig --node-options --use-yarnrc --rc",
                         folders="--cwd", targets=True)),
    **_same("npx bunx", _row("--script-shell --shell", loads="--userconfig --globalconfig --node-options",
                             changes="-p --package")),
    "cargo": _row("-s --shell", loads="--config -Z", folders="--manifest-path -C --path"),
    "rustc": _row(code="-C --codegen -Z", changes="--sysroot"),
    **_same("pytest py.test", _row(loads="-p -c --config-file --rootdir --confcutdir --import-mode -o --override-ini",
                                   changes="--pyargs --pdbcls --tx --px --ds --dc --cov-config --ssh-config --driver-path -W "
                                   "--pythonwarnings --pylint-rcfile --mypy-config-file --envfile --env-file --pastebin "
                                   "--docker-compose --docker-compose-file --docker-compose-project --rsyncdir",
                                   targets=True, takes="-k -m -n -r --maxfail --durations --tb --cov "
                                   "--cov-report --junitxml --basetemp --log-file --ignore --deselect --numprocesses --dist")),
    **_same("tox hatch", _row(changes="-c --conf --runner --workdir -x --override")),
    "nox": _row(folders="-f --noxfile --envdir"),
    "go": _row("-exec -toolexec -vettool", loads="-C -overlay -modfile", code="-ldflags -gcflags -asmflags",
               changes="-gccgoflags -pkgdir -compiler", dashes=True, targets=True,
               takes="-o -run -skip -count -timeout -bench -benchtime -parallel -p -tags -mod -cpu -fuzz -fuzztime -shuffle "
               "-list -coverprofile -covermode -coverpkg -cpuprofile -memprofile -mutexprofile -blockprofile -trace -outputdir "
               "-f -buildmode -installsuffix -pgo -vet"),
    **_same("gcc g++ cc c++ clang clang++", _row("-wrapper", loads="-B -fplugin -specs",
                                                 changes="-fuse-ld -Xclang -ccc-install-dir", dashes=True)),
    **_same("ld gold lld ld.gold ld.lld", _row(loads="-plugin --plugin", dashes=True)),
    **_same("java javaw", _row("-XX:OnError -XX:OnOutOfMemoryError",
                               changes="-javaagent -agentlib -agentpath -Xbootclasspath/a", dashes=True)),
    **_same("cmake", _row(loads="-P -C", changes="--toolchain --preset -G", formats="--preset -G", folders="-S")),
    **_same("gradle gradlew", _row(loads="-I --init-script -c --settings-file", changes="-b --build-file -g --gradle-user-home "
                                   "--include-build", folders="-p --project-dir")),
    **_same("mvn mvnw", _row(changes="-s --settings -gs --global-settings -t --toolchains", folders="-f --file", dashes=True)),
    **_same("ant", _row(changes="-lib -propertyfile -logger -listener", folders="-f -file -buildfile", dashes=True)),
    **_same("bazel bazelisk", _row("--run_under --workspace_status_command --shell_executable --credential_helper",
                                   loads="--bazelrc", changes="--override_repository --action_env --test_env --package_path "
                                   "--crosstool_top --host_jvm_args --remote_cache")),
    **_same("sbt lein rebar3", _row(changes="-J-javaagent --require --addPluginSbtFile -addPluginSbtFile -java-home")),
    "mix": _row(code="-e --eval", changes="-r --require --formatter --profile-require"),
    **_same("openssl libressl", _row(loads="-engine -provider -provider-path -provider_path -keygen_engine -ssl_client_engine",
                                     dashes=True)),
    **_same("docker podman nerdctl", _row("--entrypoint --health-cmd --healthcheck-command --invoke",
                                          changes="-H --host --context --connection --url",
                                          folders="-f --file --project-directory")),
    **_same("docker-compose podman-compose", _row("--entrypoint", folders="-f --file --project-directory")),
    **_same("kubectl oc helm", _row(changes="--kubeconfig --post-renderer -s --server --cache-dir")),
    **_same("flatpak coreutils", _row("--command --coreutils-prog")),
    "ctest": _row("--test-command --build-makeprogram", loads="-S --script -SP --script-new-process", dashes=True,
                  changes="--overwrite", folders="--test-dir --build-and-test --build-run --build-run-dir"),
    "meson": _row("--wrapper --gdb-path", changes="--native-file --cross-file", folders="-C"),
    "dotnet": _row(changes="-s --settings --test-adapter-path -a -l --logger --collect -p -property --property /p -logger -e "
                   "--environment", dashes=True),
    **_same("phpunit paratest pest", _row(changes="--bootstrap --prepend --extension --printer --loader -d --include-path",
                                          folders="-c --configuration", targets=True,
                                          takes="--filter --group --exclude-group --testsuite --log-junit")),
    "bundle": _row(folders="--gemfile"),
    "composer": _row(folders="-d --working-dir"),
    "pod": _row(folders="--project-directory"),
    "buf": _row(folders="--template --config"),
    "xcodebuild": _row(folders="-project -workspace -xcconfig", dashes=True),
    **_same("flutter dart", _row(folders="-t --target")),
    "turbo": _row(changes="--api --token --team", folders="--cwd --root-turbo-json"),
    **_same("nx lerna", _row(changes="--runner --config --jestConfig --npm-client", folders="--cwd --root")),
    **_same("pre-commit", _row(changes="-c --config")),
    **_same("terraform tofu", _row(changes="-plugin-dir", folders="-chdir", dashes=True)),
    "terragrunt": _row("--tf-path --terragrunt-tfpath", changes="--config --terragrunt-config",
                       folders="--working-dir --terragrunt-working-dir"),
    "pulumi": _row(folders="-C --cwd"),
    **_same("cdk cdktf", _row("-a --app", changes="--plugin")),
    **_same("ansible ansible-playbook", _row(code="-a --args", loads="-i --inventory -M --module-path")),
    **_same("logrotate run-parts", _row(always=True)),
    "dpkg": _row("--pre-invoke --post-invoke --status-logger", loads="--admindir --root"),
    **_same("apt apt-get aptitude", _row(loads="-o --option -c --config-file")),
    **_same("pip pip3", _row("--python", changes="-i --index-url --extra-index-url -f --find-links -C --config-settings "
                             "--global-option --trusted-host --proxy", folders="-e --editable")),
    **_same("uv uvx", _row(changes="--python -p --with --with-editable --with-requirements --env-file --index-url --index "
                       "--default-index --extra-index-url --config-file", folders="--directory --project")),
    **_same("poetry pdm pipenv", _row(changes="--python", folders="-C --directory -P --project")),
    **_same("virtualenv", _row("-p --python")),
}
"""What builds, tests and installs."""

_CHECKERS: Final[dict[str, Runner]] = {
    "jest": _row(changes="-c --config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner "
                 "--reporters --transform --resolver --preset --testEnvironment --modulePaths --projects --haste --env "
                 "--snapshotSerializers --testSequencer --watchPlugins --prettierPath --dependencyExtractor --filter "
                 "--coverageReporters --testResultsProcessor --setupTestFrameworkScriptFile --moduleNameMapper",
                 folders="--rootDir --roots", formats="--reporters --testEnvironment --env --preset --coverageReporters",
                 targets=True, takes="-t --testNamePattern -w --maxWorkers --outputFile --coverageDirectory"),
    "vitest": _row(changes="-c --config --environment --reporter --globalSetup --runner --pool --workspace --setupFiles --diff "
                   "--coverage.customProviderModule --browser.provider --typecheck.checker --snapshotEnvironment --execArgv "
                   "--sequence.sequencer --benchmark.reporters --poolOptions.forks.execArgv --poolOptions.threads.execArgv",
                   folders="-r --root --dir", formats="--reporter --environment --pool --browser.provider", targets=True,
                   takes="-t --testNamePattern --outputFile"),
    "mocha": _row(changes="-r --require --config --file -R --reporter --package --import --loader -u --ui",
                  folders="--spec", formats="-R --reporter -u --ui", targets=True, takes="-g --grep -f --fgrep -t --timeout"),
    **_same("ava tap c8 nyc", _row(changes="-r --require --config --node-arguments", targets=True)),
    "eslint": _row(changes="-c --config --rulesdir --plugin -f --format --parser --resolve-plugins-relative-to --flag",
                   formats="-f --format"),
    **_same("prettier stylelint", _row(changes="--config --plugin --plugin-search-dir --custom-formatter --custom-syntax")),
    **_same("webpack rollup vite esbuild parcel babel swc tsup", _row(
        changes="-c --config --config-file --plugin --plugins --presets -p --require -r --loader")),
    **_same("ts-node tsx", _row(code="-e --eval", changes="-r --require -P --project -C --compiler --import --loader")),
    "tsc": _row(changes="--plugins", folders="-p --project -b --build"),
    "mypy": _row("--python-executable", changes="--config-file --custom-typeshed-dir", flags="--install-types"),
    **_same("pyright basedpyright", _row("--pythonpath", changes="--project -p --typeshedpath")),
    "actionlint": _row("-shellcheck -pyflakes", loads="-config-file", dashes=True),
    "cppcheck": _row("--clang", loads="--addon --rule-file", changes="--library"),
    "clang-tidy": _row(loads="-load --load --vfsoverlay", changes="-config-file --config-file", dashes=True),
    **_same("phpstan psalm", _row(changes="--autoload-file -a -c --configuration --config --bootstrap --plugin")),
    **_same("nose nosetests", _row(changes="--plugin --with-plugin -c --config", targets=True)),
    **_same("lint-imports", _row(changes="--config")),
    **_same("pylint", _row(loads="--init-hook", changes="--rcfile --load-plugins")),
    **_same("flake8 isort bandit", _row(changes="-c --config --append-config --settings-path --settings-file --sp --ini")),
    **_same("ruff black golangci-lint rustfmt playwright", _row(changes="-c --config --reporter", formats="--reporter")),
    "rubocop": _row(changes="-r --require -c --config --plugin -f --format", formats="-f --format"),
    "cypress": _row(changes="-C --config-file --reporter -b --browser", folders="-P --project",
                    formats="--reporter -b --browser"),
    "coverage": _row(changes="--rcfile"),
    "unittest": _row(folders="-s --start-directory -t --top-level-directory", targets=True, takes="-p --pattern -k"),
    "doctest": _row(targets=True, takes="-o --option"),
    **_same("rspec cucumber", _row(changes="-r --require -O --options -I -f --format", formats="-f --format", targets=True,
                                    takes="-o --out -e --example -t --tag --seed")),
    **_same("gunicorn uvicorn flask celery hypercorn", _row(
        changes="-c --config --chdir --pythonpath --app-dir --worker-class -k --loop", formats="-k --worker-class --loop",
        folders="--app -A")),
    "jupyter": _row(changes="--config"),
    **_same("sphinx-build mkdocs alembic", _row(changes="-c -f --config-file -D -x")),
    "air": _row("--build.cmd --build.bin --build.full_bin --build.pre_cmd --build.post_cmd", changes="-c", folders="-d",
                dashes=True),
    **_same("nodemon", _row("-x --exec", changes="-r --require --config")),
}
"""What runs a project's own code, and finds in a configuration which."""

_STARTERS: Final[dict[str, Runner]] = {
    **_same("xterm konsole gnome-terminal alacritty kitty urxvt", _row("-e --command -x")),
    "screen": _row("-X", loads="-c", rest=1),
    "tmux": _row(loads="-f source source-file"),
    "start-stop-daemon": _row("--exec --startas -x -a"),
    "hyperfine": _row("--prepare --setup --cleanup -p -s -c", rest=1),
    **_same("capsh sg", _row("-c --command")),
    "dtrace": _row("-c", loads="-s", code="-n"),
    "bpftrace": _row("-c", code="-e"),
    "valgrind": _row("--db-command", rest=1),
    **_same(
        "catchsegv setpriv gosu runcon eatmydata fakeroot proot rlwrap prlimit cgexec numactl daemonize setuidgid tini "
        "qemu-x86_64 qemu-x86_64-static qemu-aarch64 box64 wine "
        "dumb-init dbus-launch ssh-agent gtime perf uftrace heaptrack nvprof ts sshpass vglrun softlimit chpst envdir "
        "envuidgid s6-setuidgid su-exec pkexec systemd-inhibit cpulimit", _WRAPPER),
    "ip": _row(),
}

_FOR_SCRIPTS: Final = (*_CHECKERS.values(), _BUILDERS["pytest"], _INTERPRETERS["node"])
SCRIPT_OPTIONS: Final = frozenset(
    option for row in _FOR_SCRIPTS for option in row.known - row.formats if option[:2] == "--"
) - _set("--print --eval --projects --dir --project --build --workspace") | _set("-c -r -p")
"""What a script of the project (``npm test -- x``) may take as such an option: which program that is, is not known."""
SCRIPT_FORMATS: Final = frozenset(option for row in _FOR_SCRIPTS for option in row.formats) - SCRIPT_OPTIONS
"""The same, where a plain word as their value is the name of something that is installed."""
VERBS: Final[dict[str, tuple[str, ...]]] = {
    "npm": ("publish", "unpublish", "install", "uninstall", "exec", "config", "login", "token", "owner", "deprecate", "access"),
    "hg": ("push", "pull", "commit", "strip", "purge", "rollback", "update"),
}
"""Verbs that a program also takes cut short."""

ROWS: Final[dict[str, Runner]] = {
    **_INTERPRETERS, **_EDITORS, **_TALKERS, **_ARCHIVERS, **_BUILDERS, **_CHECKERS, **_STARTERS,
}
"""One row per program. ``git``, loaders and ``git-*`` are code in ``git.py`` and ``names.py``: their words are not options."""
