export const cascadeBotOptions: readonly string[] =
  '-t lightrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts'.split(' ');
