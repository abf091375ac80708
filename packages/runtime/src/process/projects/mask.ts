/** Matches the names of variables whose values are secret. */
const SECRET_NAME = /TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|API_?KEY/i;
/** Minimum length of a masked value, because shorter values would mask ordinary words. */
const MIN_LENGTH = 4;
/**
 * The pattern begins at the colon, because matching the scheme before it would take quadratic time in the length of a
 * line.
 */
const CREDENTIALS_IN_URL = /:\/\/[^\s/@'"]+@/g;

/**
 * Returns a function that masks secrets in the output of installers: user names and passwords in URLs, and the values of
 * `variables` or the passwords in them.
 */
export function createSecretMask(variables: Readonly<Record<string, string>>): (line: string) => string {
  const secrets = Object.entries(variables).flatMap(([name, value]) => [
    ...(SECRET_NAME.test(name) ? [value] : []),
    ...value.split(/\s+/).flatMap(passwordsOf),
  ]);
  const longest = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_LENGTH)
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
