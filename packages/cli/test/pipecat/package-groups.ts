import type { VendorService } from '../../src/scaffold/catalogue/vendor-service.ts';
import { vendors } from '../../src/scaffold/catalogue/vendors.ts';
import type { PackageGroup } from './pipecat-environment.ts';

/** Services whose packages are installed together. */
export type VendorPackageGroup = PackageGroup & { readonly name: string; readonly services: readonly VendorService[] };

const services = vendors.flatMap((vendor) => vendor.services);
const large = services.filter(({ installation }) => installation?.gigabytes !== undefined);
const group = (name: string, own: readonly VendorService[], gigabytes: number): VendorPackageGroup => ({
  name,
  services: own,
  extras: own.flatMap(({ extras }) => extras),
  gigabytes,
});

/** The group of all services whose packages are not unusually large. */
export const mostVendorsPackageGroup = group(
  'most vendors',
  services.filter((service) => !large.includes(service)),
  4,
);

/** Groups that together contain all services. Each service with unusually large packages has its own group. */
export const vendorPackageGroups: readonly VendorPackageGroup[] = [
  mostVendorsPackageGroup,
  ...large.map((service) => group(service.value, [service], service.installation?.gigabytes ?? 0)),
];
