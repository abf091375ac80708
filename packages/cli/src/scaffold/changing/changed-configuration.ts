import { Failure } from '../../failure.ts';
import { serviceKinds } from '../catalogue/service.ts';
import { findService } from '../catalogue/services.ts';
import { displayName, findTransport, transportsRequestedBy } from '../catalogue/transports.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { fields, type ProjectOptions, readConfigFile } from '../configuration/fields.ts';
import { listed } from '../configuration/issues.ts';
import { resolve } from '../configuration/resolve.ts';
import { servicesOfVendor } from '../configuration/resolve-services.ts';

/**
 * Adds a transport, replaces the service of a role, or switches on a feature. `what` is a value that `init` accepts.
 *
 * @throws `Failure` unknown-part, invalid-configuration
 */
export function changedConfiguration(configuration: Configuration, what: string): Configuration {
  const { options } = readConfigFile(JSON.stringify(configuration));
  const merged = { ...options, ...optionsFor(options, what) };
  const { configuration: changed, issues } = resolve(merged, configuration.project_name);
  if (changed === null) {
    throw new Failure('invalid-configuration', `${what} does not fit this project. Nothing was changed.`, null, issues);
  }
  return changed;
}

function optionsFor(options: ProjectOptions, what: string): ProjectOptions {
  const transport = findTransport(what);
  if (transport !== null) {
    const transports = [...(options.transports ?? []), transport.value];
    // With a phone transport, a web bot becomes a telephony bot.
    return transport.group === 'telephony' ? { transports, bot_type: 'telephony' } : { transports };
  }
  const directions = transportsRequestedBy(what).map(displayName);
  if (directions.length > 0) {
    throw new Failure('unknown-part', `${what} has two directions.`, `Use ${listed(directions)}.`);
  }
  const kind = serviceKinds.find((candidate) => findService(candidate, what) !== null);
  if (kind !== undefined) return { [`${kind}_service`]: what };
  const feature = Object.entries(fields).find(([, { option, type }]) => type === 'switch' && option === what);
  if (feature !== undefined) return { [feature[0]]: true };
  const similar = serviceKinds.flatMap((candidate) => servicesOfVendor(candidate, what));
  throw new Failure(
    'unknown-part',
    `${JSON.stringify(what)} is not a transport, service or feature.`,
    similar.length > 0 ? `Did you mean ${listed(similar)}?` : 'List all values with: botcli init --list-options',
  );
}
