import type { ProjectPlan } from '../configuration/plan.ts';
import { createPythonCode, emptyPythonCode, type PythonCode } from './code.ts';

export function generateWavWriter(plan: ProjectPlan): PythonCode {
  if (!plan.configuration.recording) return emptyPythonCode;
  return createPythonCode(
    [
      'def write_wav(path: Path, audio: bytes, sample_rate: int, channels: int) -> None:',
      '    """Write 16-bit samples as a WAV file."""',
      '    path.parent.mkdir(parents=True, exist_ok=True)',
      '    with wave.open(str(path), "wb") as file:',
      '        file.setnchannels(channels)',
      '        file.setsampwidth(2)',
      '        file.setframerate(sample_rate)',
      '        file.writeframes(audio)',
    ],
    ['pathlib', 'Path'],
    ['wave'],
  );
}

export function generateAudioBufferStatements(plan: ProjectPlan): PythonCode {
  if (!plan.configuration.recording) return emptyPythonCode;
  return createPythonCode(
    [
      '    # Records what the user and the bot say.',
      '    audio_buffer = AudioBufferProcessor(auto_start_recording=True)',
    ],
    ['pipecat.processors.audio.audio_buffer_processor', 'AudioBufferProcessor'],
  );
}

/** Generates the event handler that saves the recording when the session ends. */
export function generateRecordingHandler(plan: ProjectPlan): PythonCode {
  if (!plan.configuration.recording) return emptyPythonCode;
  return createPythonCode(
    [
      '    @audio_buffer.event_handler("on_audio_data")',
      '    async def on_audio_data(buffer, audio, sample_rate, num_channels):',
      '        name = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")',
      '        path = Path("recordings") / f"{name}.wav"',
      '        await asyncio.to_thread(write_wav, path, audio, sample_rate, num_channels)',
      '        logger.info(f"Recorded {path}")',
    ],
    ['asyncio'],
    ['datetime', 'UTC', 'datetime'],
    ['pathlib', 'Path'],
    ['loguru', 'logger'],
  );
}
