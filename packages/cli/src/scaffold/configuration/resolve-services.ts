import { findClosestWord } from '@bothost/contract/find-closest-word';
import { findService, listServices, removedServices } from '../catalogue/services.ts';
import type { ServiceKind } from '../catalogue/vendor-service.ts';
import type { BotType, PipelineMode, ProjectConfiguration } from './configuration.ts';
import type { ProjectOptions } from './fields.ts';
import { formatOptionName, type IssueReporter, joinWords } from './issues.ts';

export const noVideoOnPhoneMessage = 'video is only for web bots, because phone calls have no video';

type Services = Pick<
  ProjectConfiguration,
  'stt_service' | 'llm_service' | 'tts_service' | 'realtime_service' | 'video_service'
>;

/**
 * Checks that the options name a known service of each kind that the mode (`cascade` or `realtime`) needs. Reports an issue for
 * a service that only the other mode uses.
 */
export function resolveServices(
  options: ProjectOptions,
  mode: PipelineMode | null,
  botType: BotType,
  addIssue: IssueReporter,
): Services {
  const resolveService = (kind: ServiceKind, isRequired: boolean, refusal: string | null) => {
    const path = `${kind}_service` as const;
    const value = options[path];
    if (value === undefined) {
      if (isRequired)
        addIssue(path, `the service is missing. Set ${formatOptionName(path)} to ${joinWords(valuesOf(kind))}`);
      return null;
    }
    const service = findService(kind, value);
    if (service === null) addIssue(path, unknownService(kind, value, formatOptionName(path)));
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
    video_service: resolveService('video', false, botType === 'telephony' ? noVideoOnPhoneMessage : null),
  };
}

function unknownService(kind: ServiceKind, value: string, optionName: string): string {
  const removal = removedServices[value];
  const reason = removal === undefined ? `${JSON.stringify(value)} is unknown` : `${value} ${removal}`;
  const similar = similarServices(kind, value);
  return similar.length > 0
    ? `${reason}. Did you mean ${joinWords(similar)}?`
    : `${reason}: ${optionName} takes one of ${joinWords(valuesOf(kind))}`;
}

/**
 * Suggests services for an unknown value: the services of the vendor with this name or, without such a vendor, the service with
 * the most similar name.
 */
function similarServices(kind: ServiceKind, value: string): readonly string[] {
  const ofVendor = findVendorServices(kind, value);
  if (ofVendor.length > 0) return ofVendor;
  const nearest = findClosestWord(value, valuesOf(kind));
  return nearest === null ? [] : [nearest];
}

/** Finds the services of a vendor by its name: `deepgram_stt` for `deepgram`, `aws_transcribe_stt` for `aws`. */
export function findVendorServices(kind: ServiceKind, name: string): readonly string[] {
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
  return listServices(kind)
    .map(({ service }) => service.value)
    .sort();
}
