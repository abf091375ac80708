"""Describes the pipeline, the observers and the transport parameters that a bot has created, as JSON."""

from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.pipeline.pipeline import PipelineSink, PipelineSource
from pipecat.processors.aggregators.llm_response_universal import LLMUserAggregator
from pipecat.processors.frameworks.rtvi import RTVIProcessor
from pydantic import BaseModel

# Pipecat itself adds these processors to every pipeline, so the list of the bot's processors omits them.
LIBRARY_PROCESSORS = (PipelineSource, PipelineSink, RTVIProcessor)


def walk_pipeline_processors(processor):
    """Yield the processors of a pipeline and of its nested pipelines."""
    for one in processor.processors:
        inner = list(walk_pipeline_processors(one))
        yield from inner if inner else [one]


def list_processors(worker):
    """Return the class names of the bot's processors, in order."""
    processors = walk_pipeline_processors(worker._pipeline)
    return [type(one).__name__ for one in processors if not isinstance(one, LIBRARY_PROCESSORS)]


def list_tools(worker):
    """Return the names of the tools that the bot gives to its language model."""
    processors = walk_pipeline_processors(worker._pipeline)
    contexts = [one._context for one in processors if isinstance(one, LLMUserAggregator)]
    schemas = [context.tools for context in contexts if isinstance(context.tools, ToolsSchema)]
    return [tool.name for schema in schemas for tool in schema.standard_tools]


def list_observers(worker):
    """Return the class names of the observers that the bot has added."""
    found = [type(one) for one in worker._observer._observers]
    return [one.__name__ for one in found if not one.__module__.startswith("pipecat.")]


def convert_parameter_to_json(value):
    """Convert a parameter to JSON. An object that JSON cannot express becomes the name of its type."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_defaults=True)
    if isinstance(value, dict):
        return {key: convert_parameter_to_json(one) for key, one in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else type(value).__name__


def list_nondefault_transport_parameters(transport):
    """Return the parameters of a transport that differ from the library's defaults."""
    parameters = transport._params
    by_default = {name: field.get_default(call_default_factory=True) for name, field in type(parameters).model_fields.items()}
    values = {name: getattr(parameters, name) for name in sorted(by_default)}
    return {name: convert_parameter_to_json(value) for name, value in values.items() if value != by_default[name]}
