import { forwardRequest, getStartUrl } from '../../../bot-service';

/** Starts a session for the browser, which never receives the API key. */
export function POST(request: Request): Promise<Response> {
  return forwardRequest(request, getStartUrl());
}
