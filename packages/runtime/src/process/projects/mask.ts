/** Names of variables whose values nobody is to read. */
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|API_?KEY/i;
/** Shorter ones would mask ordinary words. */
const LEAST_LENGTH = 4;
/** Begins at the colon: looking for a scheme before it takes a time that grows with the square of a line's length. */
const CREDENTIALS_IN_URL = /:\/\/[^\s/@'"]+@/g;

/**
 * Makes a function that takes out of a line what installers print and nobody may read: names and passwords in URLs, and
 * the values, or the passwords within them, of the variables that were passed on.
 */
export function createMask(variables: Readonly<Record<string, string>>): (line: string) => string {
  const secrets = Object.entries(variables).flatMap(([name, value]) => [
    ...(SECRET_NAME.test(name) ? [value] : []),
    ...value.split(/\s+/).flatMap(passwordsOf),
  ]);
  const longest = [...new Set(secrets)]
    .filter((secret) => secret.length >= LEAST_LENGTH)
    .sort((a, b) => b.length - a.length);
  return (line) =>
    longest.reduce((text, secret) => text.replaceAll(secret, '***'), line).replace(CREDENTIALS_IN_URL, '://***@');
}

function passwordsOf(word: string): readonly string[] {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:([^\s/@]+)@/i.exec(word)?.[1] ?? '';
  return [password, decode(password)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
