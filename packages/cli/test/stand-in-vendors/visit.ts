/** What a vendor was told by somebody who came to it. */
export type Visit = {
  readonly vendor: 'deepgram' | 'openai' | 'openai-responses' | 'cartesia';
  /** What it was let in with, without the word before it. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** Messages in JSON, oldest first. */
  readonly said: unknown[];
  /** Bytes of sound. */
  heard: number;
  open: boolean;
};
