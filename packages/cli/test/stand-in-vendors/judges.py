"""Creates the judge of `pipecat eval` scenarios: a language model service that uses OPENAI_BASE_URL."""

from pipecat.services.openai.llm import OpenAILLMService


def create_eval_judge(config: dict) -> OpenAILLMService:
    """Create a judge with the model that the scenario names."""
    settings = OpenAILLMService.Settings(model=config["model"])
    return OpenAILLMService(api_key="of the judge", settings=settings)
