"""The `factory` of a scenario's judge: a language model service that uses OPENAI_BASE_URL."""

from pipecat.services.openai.llm import OpenAILLMService


def judge(config: dict) -> OpenAILLMService:
    """Create the judge with the model that the scenario names."""
    settings = OpenAILLMService.Settings(model=config["model"])
    return OpenAILLMService(api_key="of the judge", settings=settings)
