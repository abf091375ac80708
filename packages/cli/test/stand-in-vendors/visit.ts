/** A request or connection that a stand-in vendor received. */
export type Visit = {
  readonly vendor: 'deepgram' | 'openai' | 'openai-responses' | 'cartesia';
  /** The credential, without its scheme. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** JSON messages, oldest first. */
  readonly messages: unknown[];
  /** Bytes of audio. */
  audioBytes: number;
  open: boolean;
};
