/** Minimum number of characters of a text that is masked. Masking shorter texts would also hide ordinary words. */
export const minMaskedTextCharacters = 6;

/**
 * Lists the forms in which secret values may appear in a log line. Omits forms shorter than `minMaskedTextCharacters`. A line of
 * a value may appear unchanged, escaped as in JSON or Python, or percent-encoded. A value of several lines may also appear as
 * one escaped or percent-encoded line. In Base64, a value may appear on one line, on lines of the length that PEM or MIME uses,
 * or as part of a longer encoded text.
 */
export function listSecretValueEncodings(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>();
  for (const value of values) {
    const lines = value.split('\n').map((line) => line.replace(/\r$/, ''));
    for (const line of lines) {
      forms.add(line);
      for (const form of writtenForms(line)) forms.add(form);
    }
    const whole = value.replace(/[\r\n]+$/, '');
    if (lines.length > 1) for (const form of writtenForms(whole)) forms.add(form);
    for (const form of base64Forms(whole)) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= minMaskedTextCharacters && !form.includes('\n'));
}

/** Escaped and percent-encoded forms. Empty for a text that encoding does not change. */
function writtenForms(text: string): readonly string[] {
  if (/^[\w.-]*$/.test(text)) return [];
  const escaped = JSON.stringify(text).slice(1, -1);
  const ascii = escaped.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return [escaped, ascii, escaped.replaceAll('\\"', '"'), ...percentForms(text)];
}

/** Percent-encodes like browsers, Node and Python (RFC 3986, section 2.1), in upper and lower case. */
function percentForms(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [component, strict, strict.replaceAll('%2F', '/'), encodeURI(text)];
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const all = [...forms, form, strict.replaceAll('%20', '+')];
  return [...all, ...all.map((one) => one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** Line lengths of Base64 in PEM (RFC 7468, section 2) and MIME (RFC 2045, section 6.8). */
const columns = [64, 76];

/**
 * Returns the forms in which a text can appear within the Base64 encoding of a longer text (RFC 4648, section 4). There is one
 * form for each offset of the text modulo 3, because Base64 encodes groups of three bytes. A form omits the characters at its
 * ends that also depend on adjacent bytes. Each form is returned in the standard and in the URL-safe alphabet, and the form for
 * offset 0 also in lines of PEM and MIME.
 */
function base64Forms(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < minMaskedTextCharacters) return [];
  const cores = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const [first = ''] = cores;
  const broken = columns.filter((width) => first.length > width).flatMap((width) => chunksOf(first, width));
  const all = [...cores, ...broken];
  return [...all, ...all.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'))];
}

function chunksOf(text: string, width: number): string[] {
  return Array.from({ length: Math.ceil(text.length / width) }, (_, at) => text.slice(at * width, (at + 1) * width));
}
