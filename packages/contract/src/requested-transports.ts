// This file does not import zod, so that `botcli --help` starts quickly.

/** The transports that the start of a session may request. */
export const requestedTransports = ['websocket', 'webrtc', 'daily', 'livekit'] as const;
