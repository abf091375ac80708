import { listServices } from '../catalogue/services.ts';
import { listTransportNames as namesOfTransport, transports } from '../catalogue/transports.ts';
import { serviceKinds } from '../catalogue/vendor-service.ts';
import { type CatalogueEntryKind, projectFields } from './fields.ts';

export function listCatalogueNames(kind: CatalogueEntryKind): readonly string[] {
  if (kind !== 'transport') return listServices(kind).map(({ service }) => service.value);
  const names = transports.flatMap(({ request, ...transport }) => [
    ...namesOfTransport(transport),
    ...(request === undefined ? [] : namesOfTransport(request)),
  ]);
  return [...new Set(names)];
}

export function listProjectComponentNames(): readonly string[] {
  const features = Object.values(projectFields).flatMap(({ option, type }) => (type === 'switch' ? [option] : []));
  return [...transports.flatMap(namesOfTransport), ...serviceKinds.flatMap(listCatalogueNames), ...features];
}
