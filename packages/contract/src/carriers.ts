/** Telephone carriers whose media streams the service takes, by the word that is their path and that bots are told. */
export const carriers = ['twilio', 'telnyx', 'plivo', 'exotel'] as const;
export type Carrier = (typeof carriers)[number];
