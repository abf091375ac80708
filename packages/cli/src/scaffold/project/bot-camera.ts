import type { ProjectPlan } from '../configuration/plan.ts';
import { createPythonCode, emptyPythonCode, type PythonCode } from './code.ts';

/**
 * Returns whether the language model requests camera frames by calling a tool. In mode `cascade`, the model gets frames only on
 * request (`UserImageRequestFrame` of pipecat-ai 1.14.0). Realtime services with video get frames without a request.
 */
export function usesCameraTool(plan: ProjectPlan): boolean {
  return plan.configuration.video_input && plan.configuration.mode === 'cascade';
}

/** Generates `look`, with which the model in mode `cascade` requests a camera frame for its context. */
export function generateCameraTool(plan: ProjectPlan): PythonCode {
  if (!usesCameraTool(plan)) return emptyPythonCode;
  return createPythonCode(
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

const contextComment = [
  '    # The context is the conversation so far, as the language model sees it. The aggregators add what',
  '    # the user says, when they have finished speaking, and what the bot has said.',
];

/**
 * Generates the variable `context` with the model's tools. For a plain WebSocket, which carries no video, the camera tool is
 * omitted, because the tool would never receive a frame.
 */
export function generateLlmContext(plan: ProjectPlan): PythonCode {
  const imported = ['pipecat.processors.aggregators.llm_context', 'LLMContext'] as const;
  if (!usesCameraTool(plan)) return createPythonCode([...contextComment, '    context = LLMContext()'], imported);
  if (!plan.transports.some(({ key }) => key === 'websocket')) {
    return createPythonCode([...contextComment, '    context = LLMContext(tools=[look])'], imported);
  }
  return createPythonCode(
    [
      ...contextComment,
      '    is_audio_only = (',
      '        isinstance(runner_args, WebSocketRunnerArguments)',
      '        and runner_args.transport_type == "websocket"',
      '    )',
      '    context = LLMContext(tools=NOT_GIVEN if is_audio_only else [look])',
    ],
    imported,
    ['pipecat.runner.types', 'WebSocketRunnerArguments'],
    ['pipecat.utils.types', 'NOT_GIVEN'],
  );
}
