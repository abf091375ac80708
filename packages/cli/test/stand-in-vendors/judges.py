"""The `factory` of a scenario's judge: any service for thinking, here one that is reached through OPENAI_BASE_URL."""

from pipecat.services.openai.llm import OpenAILLMService


def judge(config: dict) -> OpenAILLMService:
    """Make the judge that a scenario names by its model."""
    settings = OpenAILLMService.Settings(model=config["model"])
    return OpenAILLMService(api_key="of the judge", settings=settings)
