import type { ProjectPlan } from '../configuration/plan.ts';
import { dialsOut, mustDistinguishIncomingCalls, receivesCalls, waitsForClient } from './bot-calls.ts';
import { generateCameraTool, generateLlmContext, usesCameraTool } from './bot-camera.ts';
import { generateAudioBufferStatements, generateRecordingHandler } from './bot-recording.ts';
import { generateServiceStatements, pythonServiceVariableNames } from './bot-services.ts';
import { createPythonCode, emptyPythonCode, joinPythonCode, type PythonCode } from './code.ts';

export function generateRunBotFunction(plan: ProjectPlan): PythonCode {
  return joinPythonCode(
    [
      joinPythonCode([signature(plan), generateServiceStatements(plan)], 0),
      generateCameraTool(plan),
      joinPythonCode([generateLlmContext(plan), aggregators], 0),
      generateAudioBufferStatements(plan),
      pipeline(plan),
      worker(plan),
      greeting(plan),
      readiness(plan),
      connection(plan),
      disconnection,
      roomHandlers(plan),
      transcription(plan),
      generateRecordingHandler(plan),
      createPythonCode(['    await runner.run()']),
    ],
    1,
  );
}

/** Lists the parameters of `run_bot` besides the transport and the runner's arguments. */
export function listExtraRunBotParameters(plan: ProjectPlan): readonly (readonly [name: string, type: string])[] {
  return [
    ...(plan.needsSession ? [['session', 'aiohttp.ClientSession'] as const] : []),
    ...(dialsOut(plan) ? [['callee', 'DialOut | None'] as const] : []),
    ...(plan.has('bridged-dial-in') ? [['held', 'HeldCall | None'] as const] : []),
  ];
}

function signature(plan: ProjectPlan): PythonCode {
  const extra = listExtraRunBotParameters(plan);
  const all = [['transport', 'BaseTransport'], ['runner_args', 'RunnerArguments'], ...extra];
  const named = all.map(([name, type]) => `${name}: ${type}`);
  const line = `async def run_bot(${named.join(', ')}) -> None:`;
  const isTooLong = line.length > 100;
  return createPythonCode(
    [
      ...(isTooLong ? ['async def run_bot(', ...named.map((one) => `    ${one},`), ') -> None:'] : [line]),
      '    """Run one conversation: connect the services, build the pipeline, and handle its events."""',
    ],
    ['pipecat.transports.base_transport', 'BaseTransport'],
    ['pipecat.runner.types', 'RunnerArguments'],
    ...(plan.needsSession ? ([['aiohttp']] as const) : []),
  );
}

const aggregators = createPythonCode(
  [
    '    user_aggregator, assistant_aggregator = LLMContextAggregatorPair(',
    '        context,',
    '        user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer()),',
    '    )',
  ],
  ['pipecat.audio.vad.silero', 'SileroVADAnalyzer'],
  ['pipecat.processors.aggregators.llm_response_universal', 'LLMContextAggregatorPair', 'LLMUserAggregatorParams'],
);

function pipeline(plan: ProjectPlan): PythonCode {
  const { configuration } = plan;
  const cascade = configuration.mode === 'cascade';
  const stages = [
    'transport.input()',
    ...(cascade ? [pythonServiceVariableNames.stt] : []),
    'user_aggregator',
    pythonServiceVariableNames.llm,
    ...(cascade ? [pythonServiceVariableNames.tts] : []),
    ...(configuration.video_service === null ? [] : [pythonServiceVariableNames.video]),
    'transport.output()',
    ...(configuration.recording ? ['audio_buffer'] : []),
    'assistant_aggregator',
  ];
  return createPythonCode(
    [
      '    # Audio and text flow through these steps from top to bottom.',
      '    pipeline = Pipeline(',
      '        [',
      ...stages.map((stage) => `            ${stage},`),
      '        ]',
      '    )',
    ],
    ['pipecat.pipeline.pipeline', 'Pipeline'],
  );
}

/** The sample rate of telephone carriers' media streams, in hertz. */
const carrierRate = 8000;

function worker(plan: ProjectPlan): PythonCode {
  const narrow = plan.has('stream') && plan.configuration.mode === 'cascade';
  const always = narrow && !mustDistinguishIncomingCalls(plan);
  const mixed = narrow && !always;
  const rates = [`audio_in_sample_rate=${carrierRate}`, `audio_out_sample_rate=${carrierRate}`];
  const observed = plan.configuration.enable_observability;
  return createPythonCode(
    [
      ...(always
        ? [
            '    params = PipelineParams(',
            ...['enable_metrics=True', 'enable_usage_metrics=True', ...rates].map((one) => `        ${one},`),
            '    )',
          ]
        : ['    params = PipelineParams(enable_metrics=True, enable_usage_metrics=True)']),
      ...(mixed
        ? [
            '    if is_phone_call(runner_args):',
            `        params.audio_in_sample_rate = ${carrierRate}`,
            `        params.audio_out_sample_rate = ${carrierRate}`,
          ]
        : []),
      '    # The worker runs the pipeline, measures it, and ends a session in which nobody speaks.',
      '    worker = PipelineWorker(',
      '        pipeline,',
      '        params=params,',
      '        idle_timeout_secs=runner_args.pipeline_idle_timeout_secs,',
      '    )',
      '    runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)',
      ...(observed
        ? [
            '    if os.getenv("ENV") == "local":',
            '        # The debugger opens a port, so it runs only on your machine, where the runner sets ENV.',
            '        whisker = WhiskerServer()',
            '        worker.add_observer(whisker.create_observer(worker))',
            '        await runner.add_workers(whisker)',
          ]
        : []),
      '    await runner.add_workers(worker)',
    ],
    ['pipecat.pipeline.worker', 'PipelineParams', 'PipelineWorker'],
    ['pipecat.workers.runner', 'WorkerRunner'],
    ...(observed ? ([['os'], ['pipecat_whisker', 'WhiskerServer']] as const) : []),
  );
}

/** Generates the function `greet`, which makes the bot speak first. Empty if the bot never speaks first. */
function greeting(plan: ProjectPlan): PythonCode {
  if (!waitsForClient(plan) && !receivesCalls(plan)) return emptyPythonCode;
  return createPythonCode(
    [
      '    # Makes the bot speak first: adds an instruction to the context and runs the language model.',
      '    async def greet() -> None:',
      '        context.add_message(',
      '            {',
      '                "role": "developer",',
      '                "content": "Introduce yourself in one short sentence and offer your help.",',
      '            }',
      '        )',
      '        await worker.queue_frames([LLMRunFrame()])',
    ],
    ['pipecat.frames.frames', 'LLMRunFrame'],
  );
}

function readiness(plan: ProjectPlan): PythonCode {
  if (!waitsForClient(plan)) return emptyPythonCode;
  return createPythonCode([
    '    # The client has connected its audio: greet the user.',
    '    @worker.rtvi.event_handler("on_client_ready")',
    '    async def on_client_ready(rtvi):',
    '        await greet()',
  ]);
}

function connection(plan: ProjectPlan): PythonCode {
  const hasCallerNumber = plan.has('stream');
  const greets = receivesCalls(plan)
    ? mustDistinguishIncomingCalls(plan)
      ? ['        if is_phone_call(runner_args):', '            await greet()']
      : ['        await greet()']
    : [];
  return createPythonCode(
    [
      '    # Someone has joined the session.',
      '    @transport.event_handler("on_client_connected")',
      '    async def on_client_connected(transport, client):',
      ...(usesCameraTool(plan)
        ? ['        nonlocal client_id', '        client_id = transport.get_client_id(client)']
        : []),
      ...(hasCallerNumber
        ? [
            '        caller = runner_args.call_data.from_number if runner_args.call_data else None',
            '        logger.info(f"Connected: {caller or \'unknown number\'}")',
          ]
        : ['        logger.info("Connected")']),
      ...greets,
    ],
    ['loguru', 'logger'],
  );
}

const disconnection = createPythonCode(
  [
    '    # Everyone has left: end the session.',
    '    @transport.event_handler("on_client_disconnected")',
    '    async def on_client_disconnected(transport, client):',
    '        logger.info("Disconnected")',
    '        await runner.cancel()',
  ],
  ['loguru', 'logger'],
);

/** Generates the event handlers for phone calls through hosted rooms: incoming, outgoing and failed calls. */
function roomHandlers(plan: ProjectPlan): PythonCode {
  const parts = [
    ...(dialsOut(plan)
      ? [
          '    if callee is not None and isinstance(transport, DailyTransport):',
          '        dial(transport, callee, runner)',
        ]
      : []),
    ...(plan.has('bridged-dial-in')
      ? [
          '    if held is not None and isinstance(transport, DailyTransport):',
          '        forward(transport, held, runner)',
        ]
      : []),
    ...(plan.has('room-dial-in')
      ? [
          '    if isinstance(transport, DailyTransport):',
          '',
          '        @transport.event_handler("on_dialin_error")',
          '        async def on_dialin_error(transport, data):',
          '            logger.error(f"The call failed: {data}")',
          '            await runner.cancel("the call failed")',
        ]
      : []),
  ];
  if (parts.length === 0) return emptyPythonCode;
  return createPythonCode(parts, ['pipecat.transports.daily.transport', 'DailyTransport']);
}

function transcription(plan: ProjectPlan): PythonCode {
  if (!plan.configuration.transcription) return emptyPythonCode;
  return createPythonCode(
    [
      '    # Log what was said.',
      '    @user_aggregator.event_handler("on_user_turn_stopped")',
      '    async def on_user_turn_stopped(aggregator, strategy, message):',
      '        logger.info(f"User: {message.content}")',
      '',
      '    @assistant_aggregator.event_handler("on_assistant_turn_stopped")',
      '    async def on_assistant_turn_stopped(aggregator, message):',
      '        logger.info(f"Bot: {message.content}")',
    ],
    ['loguru', 'logger'],
  );
}
