import { type ServiceKind, serviceKinds } from '../catalogue/service.ts';
import { servicesOf } from '../catalogue/services.ts';
import { namesOf as namesOfTransport, transports } from '../catalogue/transports.ts';
import { fields } from './fields.ts';

/** What is chosen by the name of a transport or of a service. */
export type CatalogueKind = 'transport' | ServiceKind;

/** All names of a kind that `init` accepts, for completion. */
export function namesOf(kind: CatalogueKind): readonly string[] {
  if (kind !== 'transport') return servicesOf(kind).map(({ service }) => service.value);
  const names = transports.flatMap(({ request, ...transport }) => [
    ...namesOfTransport(transport),
    ...(request === undefined ? [] : namesOfTransport(request)),
  ]);
  return [...new Set(names)];
}

/** Everything that `project add` accepts. */
export function addable(): readonly string[] {
  const features = Object.values(fields).flatMap(({ option, type }) => (type === 'switch' ? [option] : []));
  return [...transports.flatMap(namesOfTransport), ...serviceKinds.flatMap(namesOf), ...features];
}
