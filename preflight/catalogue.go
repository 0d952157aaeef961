package preflight

import (
	"slices"
	"strings"
)

// builtIn returns the checks of this package.
func builtIn() []Check {
	return slices.Concat(
		sourceChecks(), sourceGroupChecks(), targetChecks(), workerChecks(), workersSurveyChecks(), connectorChecks(), []Check{otherConfigCheck(), widenedCheck()},
		clusterConfigChecks(), topicConfigChecks(), consumerConfigChecks(), recordConfigChecks(), producerConfigChecks(), switchConfigChecks(), keyConfigChecks(),
		confirmChecks(), sinkChecks(), sinkGuaranteeChecks(), lintChecks(), offsetChecks(), flinkChecks(), flinkInventoryChecks(), flinkJobChecks(),
		brokerSurveyChecks(),
		boundaryChecks(),
	)
}

// Checks returns the catalogue, sorted by id: every check that [Judge] makes,
// every rule of package offsetmap that it reports, what only [Lint] and
// [LintDriver] say, and everything that only the steps after planning report.
func Checks() []Check {
	all := slices.Concat(builtIn(), lintOnlyChecks(), driverChecks(), ruleChecks(), stepChecks())
	slices.SortFunc(all, func(a, b Check) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Explain returns the check with the id, and false when there is none.
func Explain(id string) (Check, bool) {
	c, known := byID()[id]
	return c, known
}

func byID() map[string]Check {
	all := map[string]Check{}
	for _, c := range Checks() {
		all[c.ID] = c
	}
	return all
}
