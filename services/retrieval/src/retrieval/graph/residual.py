"""The residual leg: the nearest vectors of the query without its known names."""

from __future__ import annotations

from retrieval.dense.leg import DenseLeg
from retrieval.graph.leg import GraphLeg
from retrieval.ranking.features import Feature
from retrieval.reading.leg import LegQuery


class ResidualLeg(DenseLeg):
    """Searches for what the query says besides its names, if the graph knows these. Void if the graph leg is."""

    kind, weight, score, every_wording, needs = "residual", None, None, False, (GraphLeg,)
    columns = (Feature("residual", 0.2, elsewhere=0.1),)

    @property
    def void(self) -> bool:
        return super().void or self._graph.void

    def applies(self, leg_query: LegQuery) -> bool:
        return leg_query.leg(GraphLeg) is not None

    async def ready(self) -> None:
        await self._graph.answered.wait()

    async def find(self) -> None:
        """Embeds the text while the graph leg still looks up its chunks, on which it depends whether to search."""
        graph, text = self._graph, self._graph.residual
        self.skipped = graph.void or not text or text == self.leg_query.query.text
        if self.skipped or not await self._embed(text):
            return
        await graph.done.wait()
        if graph.void or not graph.is_about_names:
            self.skipped, self.vector = True, None
        else:
            await self._nearest()

    @property
    def _graph(self) -> GraphLeg:
        graph = self.leg_query.leg(GraphLeg)
        assert graph is not None, "it is needed"
        return graph
