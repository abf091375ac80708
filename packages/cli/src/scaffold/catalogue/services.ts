import type { Service, ServiceKind, Vendor } from './service.ts';
import { vendors } from './vendors.ts';

/** A service and whose it is. */
export type Offered = { readonly service: Service; readonly vendor: Vendor };

const offered: readonly Offered[] = vendors.flatMap((vendor) =>
  vendor.services.map((service) => ({ service, vendor })),
);
const byValue = new Map(
  offered.flatMap((one) => [one.service.value, ...(one.service.aliases ?? [])].map((value) => [value, one] as const)),
);

/** All of a kind by label; those that should not be chosen for something new come last. */
export function servicesOf(kind: ServiceKind): readonly Offered[] {
  const found = offered.filter(({ service }) => service.kind === kind);
  return found.sort(
    ({ service: a }, { service: b }) =>
      Number(a.discouraged !== undefined) - Number(b.discouraged !== undefined) ||
      compare(a.label.toLowerCase(), b.label.toLowerCase()) ||
      compare(a.value, b.value),
  );
}

/** The service that a value or one of its aliases means, if it is of that kind. */
export function findService(kind: ServiceKind, value: string): Offered | null {
  const found = byValue.get(value);
  return found?.service.kind === kind ? found : null;
}

/** Values that were offered once, with the reason they are not any more. */
export const removedServices: Readonly<Record<string, string>> = {
  lmnt_tts: 'is gone: the vendor has shut down',
};

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
