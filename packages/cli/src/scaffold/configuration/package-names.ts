/**
 * Names of packages that pipecat-ai 1.14.0 with any of its extras installs, and of the tools of generated projects, normalized as
 * in PEP 503.
 */
const packageNames: ReadonlySet<string> = new Set(
  `
  accelerate aic-sdk aiobotocore aiocontextvars aiofiles aiohappyeyeballs aiohttp aioice aiortc aiosignal
  annotated-doc annotated-types anthropic anyio async-timeout asyncpg attrs audioop-lts av aws-sdk-bedrock-runtime
  aws-sdk-sagemaker-runtime-http2 azure-cognitiveservices-speech boto3 botocore camb-sdk certifi cffi
  charset-normalizer click colorama coremltools cryptography daily-python deepgram-sdk dnspython docopt
  docstring-parser einops exceptiongroup fastapi faster-whisper filelock flatbuffers frozenlist fsspec funasr
  google-api-core google-auth google-cloud-speech google-cloud-texttospeech google-crc32c google-genai groq grpcio h11
  httpcore httpcore2 httpx httpx2 httpx2-jsfetch hume idna ifaddr importlib-resources jinja2 jiter jsonschema
  kokoro-onnx langchain langchain-community langchain-openai livekit livekit-api llvmlite loguru loudness markdown
  markdown-it-py markupsafe mcp mdurl mem0ai mistralai mlx-whisper moonshine-voice moq-rs mpmath multidict networkx
  nodeenv num2words numba numpy nvidia-riva-client onnxruntime openai opencv-python-headless opentelemetry-api
  opentelemetry-instrumentation opentelemetry-sdk opentelemetry-semantic-conventions ormsgpack packaging pgmq pillow
  pipecat-ai pipecat-ai-context-hub pipecat-ai-flows pipecat-ai-prebuilt pipecat-ai-whisker pipecatcloud piper-tts
  pocket-tts prompt-toolkit propcache proto-plus protobuf pvkoala pyaudio pycparser pydantic pydantic-core pyee
  pygments pygobject pyjwt pylibsrtp pyopenssl pyright pyrnnoise python-dotenv pyvips pyyaml questionary redis
  requests resampy rich rime-api ruff sarvamai sentencex sentry-sdk shellingham simli-ai six sniffio soundfile soxr
  speechmatics-agent-stt starlette strands-agents sympy tenacity timm torch torchaudio transformers truststore typer
  typing-extensions typing-inspection urllib3 uvicorn vonage-video-connector wait-for2 watchfiles wcwidth websockets
  win32-setctime yarl
`
    .trim()
    .split(/\s+/),
);

/** Returns why a Python project cannot have this name, or null if it can. uv cannot install a project that depends on its own name. */
export function findPackageNameProblem(name: string): string | null {
  const normalized = name.toLowerCase().replace(/[-_.]+/g, '-');
  if (!packageNames.has(normalized)) return null;
  return `gives the Python project the name ${normalized}, which is the name of a package that Pipecat installs`;
}
