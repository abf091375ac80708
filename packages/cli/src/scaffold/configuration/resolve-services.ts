import { closest } from '@bothost/contract/suggest';
import type { ServiceKind } from '../catalogue/service.ts';
import { findService, removedServices, servicesOf } from '../catalogue/services.ts';
import type { BotType, Configuration, Mode } from './configuration.ts';
import type { ProjectOptions } from './fields.ts';
import { type AddIssue, listed, option } from './issues.ts';

/** The reason why options about video are refused for phone bots. */
export const noVideoOnPhone = 'is for web bots only: phone calls have no video';

type Services = Pick<
  Configuration,
  'stt_service' | 'llm_service' | 'tts_service' | 'realtime_service' | 'video_service'
>;

/** Checks that every service that the mode needs is given and known, and that none of the other mode is given. */
export function resolveServices(
  options: ProjectOptions,
  mode: Mode | null,
  botType: BotType,
  addIssue: AddIssue,
): Services {
  const resolveService = (kind: ServiceKind, isRequired: boolean, refusal: string | null) => {
    const path = `${kind}_service` as const;
    const value = options[path];
    if (value === undefined) {
      if (isRequired) addIssue(path, `is missing: ${option(path)} takes one of ${listed(valuesOf(kind))}`);
      return null;
    }
    const service = findService(kind, value);
    if (service === null) addIssue(path, unknownService(kind, value, option(path)));
    else if (refusal !== null) addIssue(path, refusal);
    return service?.service.value ?? null;
  };
  const cascade = mode === 'cascade';
  const realtime = mode === 'realtime';
  const notInRealtime = realtime ? 'is not used in mode realtime, where one realtime service does everything' : null;
  return {
    stt_service: resolveService('stt', cascade, notInRealtime),
    llm_service: resolveService('llm', cascade, notInRealtime),
    tts_service: resolveService('tts', cascade, notInRealtime),
    realtime_service: resolveService('realtime', realtime, cascade ? 'is not used in mode cascade' : null),
    video_service: resolveService('video', false, botType === 'telephony' ? noVideoOnPhone : null),
  };
}

function unknownService(kind: ServiceKind, value: string, optionName: string): string {
  const removal = removedServices[value];
  const reason = removal === undefined ? `${JSON.stringify(value)} is unknown` : `${value} ${removal}`;
  const similar = similarServices(kind, value);
  return similar.length > 0
    ? `${reason}. Did you mean ${listed(similar)}?`
    : `${reason}: ${optionName} takes one of ${listed(valuesOf(kind))}`;
}

/** Suggestions for an unknown value: the services of the vendor that it names, else the nearest one by spelling. */
function similarServices(kind: ServiceKind, value: string): readonly string[] {
  const ofVendor = servicesOfVendor(kind, value);
  if (ofVendor.length > 0) return ofVendor;
  const nearest = closest(value, valuesOf(kind));
  return nearest === null ? [] : [nearest];
}

/** The services of a kind whose vendor a user names: `deepgram_stt` for `deepgram`, `aws_transcribe_stt` for `aws`. */
export function servicesOfVendor(kind: ServiceKind, name: string): readonly string[] {
  const vendor = name
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, '')
    .replace(/_(stt|llm|tts|realtime|video)$/, '');
  const values = vendor === '' ? [] : valuesOf(kind);
  return values.includes(`${vendor}_${kind}`)
    ? [`${vendor}_${kind}`]
    : values.filter((value) => value.startsWith(`${vendor}_`));
}

function valuesOf(kind: ServiceKind): readonly string[] {
  return servicesOf(kind)
    .map(({ service }) => service.value)
    .sort();
}
