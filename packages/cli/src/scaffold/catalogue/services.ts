import type { ServiceKind, Vendor, VendorService } from './vendor-service.ts';
import { vendors } from './vendors.ts';

export type CatalogueService = { readonly service: VendorService; readonly vendor: Vendor };

const all: readonly CatalogueService[] = vendors.flatMap((vendor) =>
  vendor.services.map((service) => ({ service, vendor })),
);
const byValue = new Map(
  all.flatMap((one) => [one.service.value, ...(one.service.aliases ?? [])].map((value) => [value, one] as const)),
);

/** Lists the services of a kind, sorted by label. Services that the catalogue marks as discouraged come last. */
export function listServices(kind: ServiceKind): readonly CatalogueService[] {
  const matches = all.filter(({ service }) => service.kind === kind);
  return matches.sort(
    ({ service: a }, { service: b }) =>
      Number(a.discouraged !== undefined) - Number(b.discouraged !== undefined) ||
      compare(a.label.toLowerCase(), b.label.toLowerCase()) ||
      compare(a.value, b.value),
  );
}

export function findService(kind: ServiceKind, value: string): CatalogueService | null {
  const match = byValue.get(value);
  return match?.service.kind === kind ? match : null;
}

/** Services that earlier versions of botcli accepted, with the reason for their removal. */
export const removedServices: Readonly<Record<string, string>> = {
  lmnt_tts: 'was removed: the vendor has shut down',
};

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
