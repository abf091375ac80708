import type { ServiceKind } from '../catalogue/service.ts';
import { servicesOf } from '../catalogue/services.ts';
import { transports } from '../catalogue/transports.ts';
import { botTypes } from './configuration.ts';

/** The document that `init --list-options` prints: all values, by the names of the specification. */
export function listOptions() {
  const values = (kind: ServiceKind) => servicesOf(kind).map(({ service }) => service.value);
  const group = (name: 'web' | 'telephony') => transports.filter((one) => one.group === name).map(({ value }) => value);
  return {
    bot_type: botTypes,
    transports: { web: group('web'), telephony: group('telephony') },
    stt: values('stt'),
    llm: values('llm'),
    tts: values('tts'),
    realtime: values('realtime'),
    video: values('video'),
  };
}
