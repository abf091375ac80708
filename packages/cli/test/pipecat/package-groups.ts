import type { Service } from '../../src/scaffold/catalogue/service.ts';
import { vendors } from '../../src/scaffold/catalogue/vendors.ts';
import type { PackageGroup } from './library-environment.ts';

/** Services whose packages are installed together. */
export type ServiceGroup = PackageGroup & { readonly name: string; readonly services: readonly Service[] };

const services = vendors.flatMap((vendor) => vendor.services);
const large = services.filter(({ installation }) => installation?.gigabytes !== undefined);
const group = (name: string, own: readonly Service[], gigabytes: number): ServiceGroup => ({
  name,
  services: own,
  extras: own.flatMap(({ extras }) => extras),
  gigabytes,
});

/** The services with packages of ordinary size. */
export const mostVendors = group(
  'most vendors',
  services.filter((service) => !large.includes(service)),
  4,
);

/** Contains all services. Services with unusually large packages are in separate groups. */
export const packageGroups: readonly ServiceGroup[] = [
  mostVendors,
  ...large.map((service) => group(service.value, [service], service.installation?.gigabytes ?? 0)),
];
