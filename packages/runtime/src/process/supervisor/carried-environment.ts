import { existsSync } from 'node:fs';
import { environmentMark } from '../instances/environment.ts';

/**
 * A shell gives its children what it made of its environment, not what it got: it leaves out names that are none of its own
 * language, and some variables are its own. Others, such as those of the dynamic linker, would change the shell itself
 * before it is in its groups. Measured with dash 0.5.12 and bash 5.2; a name too many here costs a millisecond.
 */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const OWN_NAME =
  /^(_|PWD|OLDPWD|IFS|OPT[A-Z]+|PPID|SHLVL|LINENO|LINES|COLUMNS|PS[0-9]|ENV|E?UID|GROUPS|S?RANDOM|SECONDS|EPOCH.*|SHELLOPTS|BASH.*|HIST.*|COMP_.*|COPROC|DIRSTACK|FUNC.*|HOST.*|MACHTYPE|OSTYPE|PIPESTATUS|REPLY|POSIXLY_CORRECT|TMOUT|MAIL.*|CDPATH|GLOB.*|EXECIGNORE|FIGNORE|FCEDIT|KSH.*|ERRNO|ARGV0|LD_.*|GLIBC_.*|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|BOTHOST_CARRIED_.*)$/;

/** Whether a variable reaches the program behind a shell as it is. */
export function passesShell(name: string): boolean {
  return SHELL_NAME.test(name) && !OWN_NAME.test(name);
}

/** The shell bears the mark by which processes are known, too. */
const [UNCARRIED = ''] = environmentMark('').split('=');

const PERL = `
for my $carried (grep { /^BOTHOST_CARRIED_/ } keys %ENV) {
  my ($name, $value) = split /=/, delete $ENV{$carried}, 2;
  $ENV{$name} = $value;
}
{ no warnings; exec { $ARGV[0] } @ARGV; }
my ($number, $reason) = ($! + 0, "$!");
print STDERR "$ARGV[0]: $reason\\n";
exit($number == 2 ? 127 : 126);
`;

/** Python ignores two signals, and in a locale without a name it makes one up. */
const PYTHON = `
import os, signal, sys
mark = b'BOTHOST_CARRIED_'
given = os.environb.items()
variables = {name: value for name, value in given if name != b'LC_CTYPE' and not name.startswith(mark)}
variables.update(value.split(b'=', 1) for name, value in given if name.startswith(mark))
for one in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(one, signal.SIG_DFL)
try: os.execvpe(sys.argv[1], sys.argv[1:], variables)
except OSError as error:
  sys.stderr.write('%s: %s\\n' % (sys.argv[1], error.strerror))
  sys.exit(127 if error.errno == 2 else 126)
`;

/** A program that puts carried variables into place and then becomes the command that follows it. */
export type Carrier = readonly string[];

/** Those of this machine, the quickest first; of the usual folders, which every account can reach. */
export function findCarriers(): readonly Carrier[] {
  const at = (name: string) => ['/usr/bin', '/usr/local/bin'].map((folder) => `${folder}/${name}`).filter(existsSync);
  return [
    ...at('perl').map((path) => [path, '-e', PERL, '--']),
    ...at('python3').map((path) => [path, '-I', '-S', '-c', PYTHON]),
  ];
}

export type Carried = {
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
};

/**
 * An environment and a command for a shell, behind which the program has exactly the variables that are given, beside some
 * that the shell adds. Where all of them pass a shell nothing changes; else all go under numbered names, and `carriers`
 * lends what gives them back. No value is ever in an argument or in a file.
 *
 * @throws Error with a sentence for people when nothing can
 */
export function carryEnvironment(
  environment: Readonly<Record<string, string>>,
  command: readonly string[],
  carriers: readonly Carrier[],
): Carried {
  const names = Object.keys(environment).filter((name) => !passesShell(name));
  if (names.length === 0) return { environment, command };
  const [carrier] = carriers;
  if (carrier === undefined) {
    throw new Error(
      `the name of the variable ${names.sort().join(', ')} is none that a shell passes on, and this machine has neither perl nor python3 in /usr/bin or /usr/local/bin, one of which could. Choose another name, of letters, digits and underscores, or have the operator install one of them.`,
    );
  }
  const carried = Object.entries(environment).map(([name, value], index): [string, string] =>
    name === UNCARRIED ? [name, value] : [`BOTHOST_CARRIED_${index}`, `${name}=${value}`],
  );
  return { environment: Object.fromEntries(carried), command: [...carrier, ...command] };
}
