/**
 * Telephone carriers whose media streams are supported. A carrier's name is part of the path of its WebSocket, and bots receive
 * the name.
 */
export const carriers = ['twilio', 'telnyx', 'plivo', 'exotel'] as const;
export type Carrier = (typeof carriers)[number];
