import { listServices } from '../catalogue/services.ts';
import { transports } from '../catalogue/transports.ts';
import type { ServiceKind } from '../catalogue/vendor-service.ts';
import { botTypes } from './configuration.ts';

/** Returns the canonical names of all values, as `init --list-options` prints them. */
export function listInitOptionValues() {
  const values = (kind: ServiceKind) => listServices(kind).map(({ service }) => service.value);
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
