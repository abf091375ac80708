import type { ServiceKind } from '../catalogue/service.ts';
import { findService, removedServices, servicesOf } from '../catalogue/services.ts';
import type { BotType, Configuration, Mode } from './configuration.ts';
import type { Given } from './fields.ts';
import { type AddIssue, listed, option } from './issues.ts';

/** Said of everything about video where a telephone is at the other end. */
export const noPictures = 'is for web bots: a telephone shows no pictures';

type Services = Pick<
  Configuration,
  'stt_service' | 'llm_service' | 'tts_service' | 'realtime_service' | 'video_service'
>;

/** The services of the mode, each there and known; and those of the other mode refused. */
export function resolveServices(given: Given, mode: Mode | null, botType: BotType, addIssue: AddIssue): Services {
  const one = (kind: ServiceKind, needed: boolean, unfit: string | null) => {
    const path = `${kind}_service` as const;
    const value = given[path];
    if (value === undefined) {
      if (needed) addIssue(path, `is missing: ${option(path)} takes one of ${listed(valuesOf(kind))}`);
      return null;
    }
    const found = findService(kind, value);
    if (found === null) {
      const gone = removedServices[value];
      const reason = gone === undefined ? `${JSON.stringify(value)} is unknown` : `${value} ${gone}`;
      addIssue(path, `${reason}; ${option(path)} takes one of ${listed(valuesOf(kind))}`);
    } else if (unfit !== null) addIssue(path, unfit);
    return found?.service.value ?? null;
  };
  const cascade = mode === 'cascade';
  const realtime = mode === 'realtime';
  const misfit = realtime ? 'has no place in mode realtime, where one service hears, thinks and speaks' : null;
  return {
    stt_service: one('stt', cascade, misfit),
    llm_service: one('llm', cascade, misfit),
    tts_service: one('tts', cascade, misfit),
    realtime_service: one('realtime', realtime, cascade ? 'has no place in mode cascade' : null),
    video_service: one('video', false, botType === 'telephony' ? noPictures : null),
  };
}

function valuesOf(kind: ServiceKind): readonly string[] {
  return servicesOf(kind)
    .map(({ service }) => service.value)
    .sort();
}
