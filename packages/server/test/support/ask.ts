import { request } from 'node:http';

export type RawResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
};

/**
 * Sends a request without normalizing its path or joining its headers, and also reads a response that comes before the
 * end of the request body.
 */
export function sendRawRequest(
  service: { readonly url: string; readonly privateKey: string },
  method: string,
  path: string,
  body?: unknown,
  more: { readonly key?: string; readonly headers?: Readonly<Record<string, string | string[]>> } = {},
): Promise<RawResponse> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${more.key ?? service.privateKey}`, ...more.headers };
    const asking = request({ hostname, port, method, path: `/v1${path}`, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const whole = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: whole, json: JSON.parse(whole) });
      });
    });
    asking.on('error', reject);
    asking.end(text);
  });
}
