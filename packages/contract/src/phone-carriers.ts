/**
 * Telephone carriers whose media streams are supported. A carrier's name is part of the path of its WebSocket, and bots receive
 * the name.
 */
export const phoneCarriers = ['twilio', 'telnyx', 'plivo', 'exotel'] as const;
export type PhoneCarrier = (typeof phoneCarriers)[number];

type PhoneCarrierTraits = {
  readonly label: string;
  /**
   * The credential with which the carrier's signatures are verified: what the carrier calls it, and its form, which rejects what
   * was pasted by mistake. Null if the carrier does not sign.
   */
  readonly credential: { readonly name: string; readonly pattern: RegExp } | null;
  /** Whether the answer URL of an agent contains a secret, because no signature covers the URL. */
  readonly hasUrlSecret: boolean;
  readonly method: 'GET' | 'POST';
  /** Where on the carrier's page the answer URL belongs. */
  readonly place: string;
};

export const phoneCarrierTraits: Readonly<Record<PhoneCarrier, PhoneCarrierTraits>> = {
  twilio: {
    label: 'Twilio',
    credential: { name: 'auth token', pattern: /^[0-9a-f]{32}$/i },
    hasUrlSecret: false,
    method: 'POST',
    place: 'the number, under Voice Configuration, "A call comes in": Webhook, HTTP POST',
  },
  telnyx: {
    label: 'Telnyx',
    credential: { name: 'public key', pattern: /^[A-Za-z0-9+/]{43}=$/ },
    // Its signature covers the body, but not the URL. Without a secret, a request for one agent would be valid for others.
    hasUrlSecret: true,
    method: 'POST',
    place: 'the TeXML application of the number, as the webhook URL for voice: HTTP POST',
  },
  plivo: {
    label: 'Plivo',
    credential: { name: 'auth token', pattern: /^[A-Za-z0-9]{32,64}$/ },
    hasUrlSecret: false,
    method: 'POST',
    place: 'the XML application of the number, as the answer URL: POST',
  },
  exotel: {
    label: 'Exotel',
    credential: null,
    hasUrlSecret: true,
    method: 'GET',
    place: 'the Voicebot applet in the flow of the number, as its URL',
  },
};

export function isPhoneCarrier(name: string): name is PhoneCarrier {
  return phoneCarriers.some((carrier) => carrier === name);
}
