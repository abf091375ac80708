import type { Transport } from '../catalogue/transport.ts';
import type { ProjectPlan } from '../configuration/plan.ts';
import {
  collectImports,
  createCallExpression,
  createConstructorExpression,
  createPythonExpression,
  formatExpression,
  type PythonExpression,
} from '../python/expression.ts';
import { emptyPythonCode, type PythonCode } from './code.ts';

type Features = ProjectPlan['configuration'];

/** Generates `transport_params`, the audio and video settings of each transport. */
export function generateTransportParameters(plan: ProjectPlan): PythonCode {
  const entries = new Map<string, PythonExpression>();
  for (const transport of plan.transports) {
    // A browser transport and a phone transport can have the same key in `transport_params`, because both use the same kind of
    // room. Keep the settings of the browser transport.
    if (transport.key === null || (entries.has(transport.key) && transport.kind !== 'browser')) continue;
    entries.set(transport.key, createTransportParametersExpression(transport, plan.configuration));
  }
  if (plan.configuration.enable_eval) entries.set('eval', evalParameters(plan.configuration));
  if (entries.size === 0) return emptyPythonCode;
  return {
    lines: [
      '# Audio and video settings. The runner uses the entry of the transport that a client has chosen.',
      'transport_params = {',
      ...[...entries].flatMap(([key, value]) => formatExpression(value, 4, `"${key}": lambda: `, ',')),
      '}',
    ],
    imports: [...entries.values()].flatMap(collectImports),
  };
}

export function createTransportParametersExpression(transport: Transport, features: Features): PythonExpression {
  return createConstructorExpression(transport.parameters, {
    ...audio,
    ...(features.enable_nc ? { audio_in_filter: noiseFilter } : {}),
    ...(transport.key === 'websocket' ? browserSocket : {}),
    ...(transport.video && features.video_input ? camera(features) : {}),
    ...(transport.video && features.video_output ? screen : {}),
  });
}

const yes = createPythonExpression('True');
const audio = { audio_in_enabled: yes, audio_out_enabled: yes };
const noiseFilter = createConstructorExpression(
  { module: 'pipecat.audio.filters.rnnoise_filter', name: 'RNNoiseFilter' },
  {},
);
const browserSocket = {
  add_wav_header: createPythonExpression('False'),
  serializer: createConstructorExpression(
    { module: 'pipecat.serializers.protobuf', name: 'ProtobufFrameSerializer' },
    {},
  ),
};
/** A realtime model gets one frame per second. In mode `cascade`, the model requests frames with a tool. */
const camera = ({ mode }: Features) => ({
  video_in_enabled: yes,
  video_in_sources: createPythonExpression(
    `{"camera": VideoInSourceParams(${mode === 'cascade' ? 'on_request_only=True' : 'framerate=1'})}`,
    [{ module: 'pipecat.transports.base_transport', name: 'VideoInSourceParams' }],
  ),
});
const screen = {
  video_out_enabled: yes,
  video_out_is_live: yes,
  video_out_width: createPythonExpression('1024'),
  video_out_height: createPythonExpression('768'),
};

function evalParameters(features: Features): PythonExpression {
  const imported = { module: 'pipecat.evals.transport', name: 'EvalTransportParams' };
  return createCallExpression(
    'EvalTransportParams',
    { ...audio, ...(features.video_input ? { video_in_enabled: yes } : {}) },
    [imported],
  );
}
