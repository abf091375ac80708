import { Failure } from '../../failure.ts';
import { findService } from '../catalogue/services.ts';
import { findDialInAndDialOutTransports, findTransport, formatTransportName } from '../catalogue/transports.ts';
import { serviceKinds } from '../catalogue/vendor-service.ts';
import type { ProjectConfiguration } from '../configuration/configuration.ts';
import { type ProjectOptions, projectFields, readConfigFile } from '../configuration/fields.ts';
import { joinWords } from '../configuration/issues.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { findVendorServices } from '../configuration/resolve-services.ts';

/**
 * Returns the configuration with an added transport, a replaced service or an enabled feature. `part` is the name of that
 * transport, service or feature in the options of `init`. @throws `Failure` unknown-part, invalid-configuration
 */
export function changeConfiguration(configuration: ProjectConfiguration, part: string): ProjectConfiguration {
  const { options } = readConfigFile(JSON.stringify(configuration));
  const merged = { ...options, ...toOptions(options, part) };
  const { configuration: changed, issues } = resolveConfiguration(merged, configuration.project_name, true);
  if (changed === null) {
    throw new Failure('invalid-configuration', `${part} cannot be added to this project. Nothing was changed.`, null, {
      issues,
    });
  }
  return changed;
}

function toOptions(options: ProjectOptions, part: string): ProjectOptions {
  const transport = findTransport(part);
  if (transport !== null) {
    const transports = [...(options.transports ?? []), transport.value];
    // A phone transport turns a web bot into a telephony bot.
    return transport.group === 'telephony' ? { transports, bot_type: 'telephony' } : { transports };
  }
  const directions = findDialInAndDialOutTransports(part).map(formatTransportName);
  if (directions.length > 0) {
    throw new Failure(
      'unknown-part',
      `${part} needs a call direction (dial-in or dial-out).`,
      `Choose ${joinWords(directions)}.`,
    );
  }
  const kind = serviceKinds.find((candidate) => findService(candidate, part) !== null);
  if (kind !== undefined) return { [`${kind}_service`]: part };
  const feature = Object.entries(projectFields).find(([, { option, type }]) => type === 'switch' && option === part);
  if (feature !== undefined) return { [feature[0]]: true };
  const similar = serviceKinds.flatMap((candidate) => findVendorServices(candidate, part));
  throw new Failure(
    'unknown-part',
    `${JSON.stringify(part)} is not a transport, service or feature.`,
    similar.length > 0 ? `Did you mean ${joinWords(similar)}?` : 'To list all values, run: botcli init --list-options',
  );
}
