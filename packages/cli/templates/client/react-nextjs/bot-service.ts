/**
 * Returns the URL that starts sessions, on the hosting service or on Pipecat's development runner.
 * Only the Next.js server reads this URL, not the browser.
 */
export function getStartUrl(): URL {
  return new URL(process.env.BOT_START_URL || 'http://localhost:7860/start');
}

/** Forwards a request of the browser, adds the API key, and returns the response. */
export async function forwardRequest(request: Request, url: URL): Promise<Response> {
  const key = process.env.BOT_START_PUBLIC_API_KEY;
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  try {
    const response = await fetch(url, {
      method: request.method,
      headers: {
        'content-type': request.headers.get('content-type') ?? 'application/json',
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      ...(hasBody ? { body: await request.arrayBuffer() } : {}),
    });
    const type = response.headers.get('content-type') ?? 'application/json';
    return new Response(await response.arrayBuffer(), {
      status: response.status,
      headers: { 'content-type': type },
    });
  } catch {
    return Response.json({ info: 'The bot cannot be reached. Is it running?' }, { status: 502 });
  }
}
