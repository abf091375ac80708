/** Telephone carriers whose media streams are supported. The name is part of the WebSocket path, and bots receive it. */
export const carriers = ['twilio', 'telnyx', 'plivo', 'exotel'] as const;
export type Carrier = (typeof carriers)[number];
