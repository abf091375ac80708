import { existsSync } from 'node:fs';
import { instanceIdVariable } from '../containment/containment.ts';

const shellName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Variables that a shell replaces (dash 0.5.12, bash 5.2) or the dynamic linker reads. A needless name costs a millisecond. */
const interpretedName =
  /^(_|PWD|OLDPWD|IFS|OPT[A-Z]+|PPID|SHLVL|LINENO|LINES|COLUMNS|PS[0-9]|ENV|E?UID|GROUPS|S?RANDOM|SECONDS|EPOCH.*|SHELLOPTS|BASH.*|HIST.*|COMP_.*|COPROC|DIRSTACK|FUNC.*|HOST.*|MACHTYPE|OSTYPE|PIPESTATUS|REPLY|POSIXLY_CORRECT|TMOUT|MAIL.*|CDPATH|GLOB.*|EXECIGNORE|FIGNORE|FCEDIT|KSH.*|ERRNO|ARGV0|LD_.*|GLIBC_.*|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|BOTHOST_VARIABLE_.*)$/;

/**
 * Perl program that restores the names of the environment variables that `passEnvironmentThroughShell` renamed, and then executes
 * the command. If the command cannot be executed, the program exits like a shell: with status 127 if the command is not found,
 * else 126.
 */
const restore = `
for my $renamed (grep { /^BOTHOST_VARIABLE_/ } keys %ENV) {
  my ($name, $value) = split /=/, delete $ENV{$renamed}, 2;
  $ENV{$name} = $value;
}
{ no warnings; exec { $ARGV[0] } @ARGV; }
my ($number, $reason) = ($! + 0, "$!");
print STDERR "$ARGV[0]: $reason\\n";
exit($number == 2 ? 127 : 126);
`;

/** Finds perl where every account can run it. Debian and Ubuntu always install it in /usr/bin (package perl-base). */
export function findPerl(): string | null {
  return ['/usr/bin/perl', '/usr/local/bin/perl'].find((path) => existsSync(path)) ?? null;
}

/**
 * Returns an environment and a command for a shell, so that the program that the shell runs gets exactly `environment`, plus
 * `PWD`, which the shell adds. Shells drop variables whose names are not shell identifiers, and overwrite some others. If there
 * are such variables, all variables get numbered names, and `perl` restores the original names. Values never appear in
 * arguments or files. Throws an Error for the bot's owner if `perl` is needed but null.
 */
export function passEnvironmentThroughShell(
  environment: Readonly<Record<string, string>>,
  command: readonly string[],
  perl: string | null,
): { readonly environment: Readonly<Record<string, string>>; readonly command: readonly string[] } {
  const dropped = Object.keys(environment).filter((name) => !shellName.test(name) || interpretedName.test(name));
  if (dropped.length === 0) return { environment, command };
  if (perl === null) {
    throw new Error(
      `The shell that starts bots cannot pass on the variable ${dropped.sort().join(', ')}, and this machine has no perl in /usr/bin or /usr/local/bin to do it. Rename the variable, using letters, digits and underscores, or ask the operator to install perl.`,
    );
  }
  const renamed = Object.entries(environment).map(([name, value], index) =>
    // Do not rename the variable with the instance id. After a restart, the server finds the processes of an instance by it.
    name === instanceIdVariable ? [name, value] : [`BOTHOST_VARIABLE_${index}`, `${name}=${value}`],
  );
  return { environment: Object.fromEntries(renamed), command: [perl, '-e', restore, '--', ...command] };
}
