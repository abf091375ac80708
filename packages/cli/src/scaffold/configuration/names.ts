import { type ServiceKind, serviceKinds } from '../catalogue/service.ts';
import { servicesOf } from '../catalogue/services.ts';
import { transports } from '../catalogue/transports.ts';
import { fields } from './fields.ts';

/** What is chosen by the name of a transport or of a service. */
export type CatalogueKind = 'transport' | ServiceKind;

/** All names of a kind as `init` takes them, those without a direction too. */
export function namesOf(kind: CatalogueKind): readonly string[] {
  if (kind !== 'transport') return servicesOf(kind).map(({ service }) => service.value);
  const names = transports.flatMap(({ value, request }) => (request === undefined ? [value] : [value, request.value]));
  return [...new Set(names)];
}

/** Everything that `project add` takes. */
export function addable(): readonly string[] {
  const features = Object.values(fields).flatMap(({ option, type }) => (type === 'switch' ? [option] : []));
  return [...transports.map(({ value }) => value), ...serviceKinds.flatMap(namesOf), ...features];
}
