const secretName = /TOKEN|SECRET|PASSWORD|CREDENTIAL|AUTH|API_?KEY/i;
/** Minimum length of a masked value. Masking shorter values would also mask ordinary words. */
const minLength = 4;
/** User name and password in a URL. Excludes the scheme, which would take quadratic time in the length of a line. */
const credentialsInUrl = /:\/\/[^\s/@'"]+@/g;

/** Masks user names and passwords in URLs, values of `variables` with a secret-like name, and passwords in their URLs. */
export function createBuildOutputMask(variables: Readonly<Record<string, string>>): (line: string) => string {
  const secrets = Object.entries(variables).flatMap(([name, value]) => [
    ...(secretName.test(name) ? [value] : []),
    ...value.split(/\s+/).flatMap(passwordsOf),
  ]);
  const longest = [...new Set(secrets)]
    .filter((secret) => secret.length >= minLength)
    .sort((a, b) => b.length - a.length);
  return (line) =>
    longest.reduce((text, secret) => text.replaceAll(secret, '***'), line).replace(credentialsInUrl, '://***@');
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
