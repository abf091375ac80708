import type { Plan } from '../configuration/plan.ts';
import { type Code, code, nothing } from './code.ts';

/**
 * Whether the bot looks at the camera when its model asks for it. Realtime services that see take every frame; in a cascade
 * nothing takes frames but an answer to a request for one (pipecat-ai 1.14.0, `UserImageRequestFrame`).
 */
export function looks(plan: Plan): boolean {
  return plan.configuration.video_input && plan.configuration.mode === 'cascade';
}

/** `look`: the tool with which the model of a cascade gets a picture into its context. */
export function sight(plan: Plan): Code {
  if (!looks(plan)) return nothing;
  return code(
    [
      '    client_id = ""',
      '',
      '    async def look(params: FunctionCallParams, question: str) -> None:',
      '        """Look at what the user\'s camera shows now.',
      '',
      '        Args:',
      '            question: What to find out from the picture.',
      '        """',
      '        request = UserImageRequestFrame(',
      '            user_id=client_id,',
      '            text=question,',
      '            append_to_context=True,',
      '            function_name=params.function_name,',
      '            tool_call_id=params.tool_call_id,',
      '            result_callback=params.result_callback,',
      '        )',
      '        await params.llm.push_frame(request, FrameDirection.UPSTREAM)',
    ],
    ['pipecat.frames.frames', 'UserImageRequestFrame'],
    ['pipecat.processors.frame_processor', 'FrameDirection'],
    ['pipecat.services.llm_service', 'FunctionCallParams'],
  );
}

/** `context`, with what the model can use. A plain WebSocket carries no video: whoever asked there would wait for ever. */
export function context(plan: Plan): Code {
  const imported = ['pipecat.processors.aggregators.llm_context', 'LLMContext'] as const;
  if (!looks(plan)) return code(['    context = LLMContext()'], imported);
  if (!plan.transports.some(({ key }) => key === 'websocket')) {
    return code(['    context = LLMContext(tools=[look])'], imported);
  }
  return code(
    [
      '    blind = (',
      '        isinstance(runner_args, WebSocketRunnerArguments)',
      '        and runner_args.transport_type == "websocket"',
      '    )',
      '    context = LLMContext(tools=NOT_GIVEN if blind else [look])',
    ],
    imported,
    ['pipecat.runner.types', 'WebSocketRunnerArguments'],
    ['pipecat.utils.types', 'NOT_GIVEN'],
  );
}
