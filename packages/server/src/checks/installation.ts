import type { RuntimeTraits } from '@bothost/runtime';
import type { RuntimeKind } from '@bothost/runtime/registry';

export type InstallationSettings = {
  readonly driver: { readonly kind: RuntimeKind; readonly traits: RuntimeTraits };
  readonly dataDirectory: string;
  readonly diskReserveBytes: number;
  readonly isDatabaseEmbedded: boolean;
  /** Whether bots have a URL at which they reach the service. */
  readonly hasInternalUrl: boolean;
};
