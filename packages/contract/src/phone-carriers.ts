/**
 * Telephone carriers whose media streams are supported. A carrier's name is part of the path of its WebSocket, and bots receive
 * the name.
 */
export const phoneCarriers = ['twilio', 'telnyx', 'plivo', 'exotel'] as const;
export type PhoneCarrier = (typeof phoneCarriers)[number];
