export type VendorRequest = {
  readonly vendor: 'deepgram' | 'openai' | 'openai-responses' | 'cartesia';
  readonly key: string;
  readonly query: URLSearchParams;
  readonly messages: unknown[];
  audioBytes: number;
  open: boolean;
};
