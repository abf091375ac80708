import type { VendorRequest } from './vendor-request.ts';

/** How stand-in vendors behave. Each field is left out if nothing of its kind happens. */
export type VendorBehavior = {
  /** The vendor that rejects the bot's key with status 401. */
  readonly rejectsKeyOf?: VendorRequest['vendor'];
  /**
   * How the language model fails: with status 500, with an error as the next event of its stream, or by closing the connection
   * in the middle of its stream.
   */
  readonly modelFailure?: 'status-500' | 'error-in-stream' | 'cut-stream';
  /** The language model calls this tool before it answers. */
  readonly calledTool?: string;
};
