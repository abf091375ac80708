/** A request or connection that a stand-in vendor received. */
export type Visit = {
  readonly vendor: 'deepgram' | 'openai' | 'openai-responses' | 'cartesia';
  /** The credential without its scheme, such as `Bearer`. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** Received JSON messages, oldest first. */
  readonly messages: unknown[];
  /** Number of audio bytes. */
  audioBytes: number;
  open: boolean;
};
