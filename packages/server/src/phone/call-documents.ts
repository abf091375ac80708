import type { PhoneCarrier } from '@bothost/contract';

/** What a carrier says about a call. Numbers are null if the carrier does not send them. */
export type CarrierCall = {
  readonly callId: string;
  readonly from: string | null;
  readonly to: string | null;
};

/** The response with which a carrier connects a call to a WebSocket. */
export type CallDocument = { readonly contentType: string; readonly body: string };

/** Creates the call document of each carrier. `streamUrl` is the URL of the call's WebSocket. */
export const createCallDocument: Readonly<
  Record<PhoneCarrier, (streamUrl: string, call: CarrierCall) => CallDocument>
> = {
  // TwiML. The numbers become parameters of the stream, because the start message of Twilio does not contain them. Pipecat uses
  // these two names.
  twilio: (streamUrl, { from, to }) => {
    const parameters = [
      ['from_number', from],
      ['to_number', to],
    ] as const;
    const elements = parameters.map(([name, value]) =>
      value === null ? '' : `<Parameter name="${name}" value="${escapeXml(value)}"/>`,
    );
    return xml(`<Connect><Stream url="${escapeXml(streamUrl)}">${elements.join('')}</Stream></Connect>`);
  },
  // TeXML.
  telnyx: (streamUrl) => xml(`<Connect><Stream url="${escapeXml(streamUrl)}" bidirectionalMode="rtp"/></Connect>`),
  plivo: (streamUrl) =>
    xml(
      `<Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">${escapeXml(streamUrl)}</Stream>`,
    ),
  // The Voicebot applet requests the URL of the WebSocket as JSON.
  exotel: (streamUrl) => ({ contentType: 'application/json; charset=utf-8', body: JSON.stringify({ url: streamUrl }) }),
};

function xml(content: string): CallDocument {
  return {
    contentType: 'text/xml; charset=utf-8',
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${content}</Response>\n`,
  };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '');
}
